"""Two fictional deployments: their apps, actions, triggers and tables, and how people speak of them.

`it` serves an IT department and has a past; `hr`, a personnel department, has other apps, steps and
tables and none: for it every request is out of domain.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """A step: name, app, what it does, and the ways in which people ask for it."""

    name: str
    app: str
    description: str
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class Noun:
    """A database table and what people call a record of it."""

    name: str
    description: str
    called: tuple[str, ...]


@dataclass(frozen=True)
class Deployment:
    """What one customer has."""

    name: str
    actions: tuple[Action, ...]
    tables: tuple[Noun, ...]
    conditions: tuple[str, ...]
    splits: tuple[tuple[str, int], ...]


TRIGGERS = (
    Action("record_created", "", "A record was created", ("when {a} is created", "as soon as somebody opens {a}", "for every new {n}")),
    Action("record_updated", "", "A record was changed", ("when {a} changes", "whenever {a} is updated", "each time someone edits {a}")),
    Action("record_created_or_updated", "", "A record was created or changed", ("when {a} is created or changed", "on any new or edited {n}")),
    Action("daily", "", "Every day", ("every morning", "once a day", "each day at seven")),
    Action("weekly", "", "Every week", ("every Monday", "once a week", "on Fridays")),
    Action("inbound_email", "", "A mail arrived", ("when a mail arrives in the shared mailbox", "for each incoming mail")),
    Action("form_submitted", "", "A form was sent in", ("when the request form is sent in", "after someone fills in the form")),
)  # fmt: skip
"""Those whose name begins with record_ take a table."""

COMMON = (
    Action("look_up_records", "", "Read records of a table", ("look up every open {n}", "fetch all {n} records", "get the list of {n} entries")),
    Action("create_record", "", "Create a record in a table", ("create {a}", "open {a} for it", "add {a}")),
    Action("update_record", "", "Change fields of a record", ("set the {n} to in progress", "update the {n}", "note the result on the {n}")),
    Action("send_notification", "", "Notify a person", ("notify the owner", "let the manager know", "tell the requester")),
)  # fmt: skip
"""Steps of every deployment, so frequent that they are not suggested; the first three take a table."""

LOGIC = (
    Action("IF", "", "Do the steps below it if a condition holds", ()),
    Action("ELSE", "", "Do the steps below it if the IF before it did not hold", ()),
    Action("FOREACH", "", "Do the steps below it for every record", ()),
    Action("TRY", "", "Do the steps below it and catch what fails", ()),
    Action("CATCH", "", "Do the steps below it if the TRY before it failed", ()),
    Action("PARALLEL", "", "Do the steps below it side by side", ()),
)

IT = Deployment(
    "it",
    actions=(
        Action("chatter_post_channel_message", "Chatter", "Post a message to a channel", ("post it to the team channel", "write to the on-call channel in Chatter", "drop a line in the operations chat")),
        Action("chatter_create_channel", "Chatter", "Open a channel and invite its members", ("open a chat room for it", "start a Chatter channel with everyone involved")),
        Action("chatter_send_direct_message", "Chatter", "Send a private message to a person", ("message the assignee privately", "ping the caller on Chatter")),
        Action("ringer_page_on_call", "Ringer", "Page the engineer on duty", ("page whoever is on call", "wake up the engineer on duty", "alert the duty phone")),
        Action("ringer_escalate_alert", "Ringer", "Hand an alert to the next level", ("escalate it in Ringer", "hand it to the second level")),
        Action("ringer_resolve_alert", "Ringer", "Close an alert", ("close the alert", "mark the page as resolved")),
        Action("keyring_reset_password", "Keyring", "Reset the password of an account", ("reset the password", "give the user a fresh password")),
        Action("keyring_unlock_account", "Keyring", "Unlock a locked account", ("unlock the account", "let the user log in again")),
        Action("keyring_add_group_member", "Keyring", "Add an account to a group", ("add the person to the access group", "grant membership in the group")),
        Action("keyring_remove_group_member", "Keyring", "Remove an account from a group", ("take the user out of the group", "revoke the group membership")),
        Action("keyring_disable_account", "Keyring", "Disable an account", ("disable the account", "switch off the login")),
        Action("beacon_query_metrics", "Beacon", "Read metrics of a host", ("read the CPU figures of the server", "check how loaded the host is")),
        Action("beacon_silence_monitor", "Beacon", "Silence a monitor for a time", ("mute the monitor for an hour", "silence the alarm during the work")),
        Action("beacon_create_dashboard", "Beacon", "Create a dashboard", ("build a dashboard of it", "make a Beacon board for the service")),
        Action("forge_trigger_pipeline", "Forge", "Start a build pipeline", ("start the build", "run the deployment pipeline")),
        Action("forge_roll_back_release", "Forge", "Roll a release back", ("roll the release back", "return to the last good version")),
        Action("forge_open_issue", "Forge", "Open an issue in a code repository", ("file a bug in the repository", "open an issue for the developers")),
        Action("forge_merge_request", "Forge", "Merge a change request", ("merge the change", "accept the merge request")),
        Action("nimbus_restart_machine", "Nimbus", "Restart a virtual machine", ("restart the server", "reboot the machine")),
        Action("nimbus_take_snapshot", "Nimbus", "Take a snapshot of a disk", ("take a snapshot of the disk", "back up the volume first")),
        Action("nimbus_resize_machine", "Nimbus", "Change the size of a virtual machine", ("give the machine more memory", "scale the server up")),
        Action("nimbus_delete_machine", "Nimbus", "Delete a virtual machine", ("tear the machine down", "delete the unused server")),
        Action("ledger_append_row", "Ledger", "Append a row to a spreadsheet", ("add a row to the log sheet", "keep it in the spreadsheet")),
        Action("ledger_read_range", "Ledger", "Read cells of a spreadsheet", ("read the list from the spreadsheet", "take the rows of the sheet")),
        Action("vault_upload_file", "Vault", "Upload a file to the file store", ("upload the report to Vault", "save the file in the archive")),
        Action("vault_share_file", "Vault", "Share a file by a link", ("share the file by link", "make the document visible to the team")),
        Action("sentinel_scan_host", "Sentinel", "Scan a host for weaknesses", ("scan the host for weaknesses", "check the machine for holes")),
        Action("sentinel_block_address", "Sentinel", "Block a network address", ("block the address at the firewall", "cut off the attacking IP")),
        Action("sentinel_isolate_host", "Sentinel", "Take a host off the network", ("isolate the laptop", "take the machine off the network")),
        Action("ask_for_change_approval", "", "Ask the change board for approval", ("ask the change board for approval", "get the change signed off")),
        Action("calculate_service_level_breach", "", "Compute when a service level is missed", ("work out when the deadline is missed", "compute the service level breach")),
        Action("summarise_with_model", "Oracle Desk", "Summarise a text with a language model", ("summarise what happened", "write a short digest of it")),
    ),
    tables=(
        Noun("incident", "Interruptions of a service", ("incident", "outage report")),
        Noun("problem", "Causes behind incidents", ("problem", "root-cause case")),
        Noun("change_request", "Planned changes", ("change request", "planned change")),
        Noun("cmdb_server", "Servers", ("server record", "server entry")),
        Noun("cmdb_laptop", "Laptops of employees", ("laptop record", "notebook entry")),
        Noun("cmdb_service", "Business services", ("service entry", "business service")),
        Noun("sys_account", "User accounts", ("user account", "login")),
        Noun("sys_group", "Groups of users", ("user group", "access group")),
        Noun("catalog_request", "Orders from the service catalog", ("catalog order", "service request")),
        Noun("knowledge_article", "Articles of the knowledge base", ("knowledge article", "how-to article")),
        Noun("software_license", "Licenses of software", ("software license", "license entry")),
        Noun("vulnerability_item", "Weaknesses found on hosts", ("vulnerability", "security finding")),
        Noun("on_call_shift", "Shifts of engineers on duty", ("on-call shift", "duty entry")),
        Noun("vendor_contract", "Contracts with vendors", ("vendor contract", "supplier contract")),
    ),
    conditions=("it is critical", "nobody has answered for an hour", "it comes from outside the company", "the priority is high", "the approval was given"),
    splits=(("train", 320), ("dev", 40), ("test", 80)),
)  # fmt: skip

HR = Deployment(
    "hr",
    actions=(
        Action("palaver_post_announcement", "Palaver", "Post an announcement to everybody", ("announce it to everybody", "put it on the news page of Palaver")),
        Action("palaver_message_person", "Palaver", "Send a message to one person", ("write to the newcomer", "send the colleague a message on Palaver")),
        Action("palaver_create_group", "Palaver", "Create a group of people", ("make a group for the new team", "bring them together in a Palaver group")),
        Action("payday_start_payroll", "Payday", "Start a payroll run", ("start the payroll", "run the salaries of the month")),
        Action("payday_adjust_salary", "Payday", "Change the salary of an employee", ("adjust the salary", "raise the pay as agreed")),
        Action("payday_issue_bonus", "Payday", "Pay a bonus once", ("pay out the bonus", "add the one-off bonus")),
        Action("payday_export_payslips", "Payday", "Export payslips", ("export the payslips", "produce the pay statements")),
        Action("signet_send_for_signature", "Signet", "Send a document to be signed", ("send the contract to be signed", "collect the signature")),
        Action("signet_check_signature", "Signet", "Check whether a document is signed", ("check whether it has been signed", "see if the signature is there")),
        Action("scholar_enrol_in_course", "Scholar", "Enrol a person in a course", ("enrol the person in the safety course", "book the training")),
        Action("scholar_issue_certificate", "Scholar", "Issue a certificate of a course", ("issue the certificate", "hand out the course diploma")),
        Action("scholar_list_overdue", "Scholar", "List overdue trainings", ("list whose training is overdue", "find out who missed a course")),
        Action("almanac_book_leave", "Almanac", "Book leave in the calendar", ("book the days off", "enter the holiday in the calendar")),
        Action("almanac_schedule_meeting", "Almanac", "Schedule a meeting", ("set up a meeting with the manager", "schedule the exit talk")),
        Action("almanac_find_free_slot", "Almanac", "Find a time when all are free", ("find a time that suits all", "look for a free slot")),
        Action("scout_publish_vacancy", "Scout", "Publish a vacancy", ("publish the vacancy", "advertise the position")),
        Action("scout_rate_applicant", "Scout", "Rate an applicant", ("rate the applicant", "give the candidate a score")),
        Action("scout_reject_applicant", "Scout", "Reject an applicant politely", ("turn the candidate down", "send a polite refusal")),
        Action("scout_invite_to_interview", "Scout", "Invite an applicant to an interview", ("invite the applicant to an interview", "ask the candidate to come in")),
        Action("depot_order_equipment", "Depot", "Order equipment for a workplace", ("order a desk and a screen", "get the equipment for the workplace")),
        Action("depot_collect_equipment", "Depot", "Collect equipment of a leaver", ("collect the badge and the laptop", "get the equipment back")),
        Action("mender_start_benefit", "Mender", "Enrol an employee in a benefit", ("enrol the person in the health plan", "start the benefit")),
        Action("mender_end_benefit", "Mender", "End a benefit of an employee", ("end the health plan", "stop the benefit")),
        Action("compute_leave_balance", "", "Compute the days of leave that are left", ("work out how many days are left", "compute the leave balance")),
        Action("compute_seniority", "", "Compute years of service", ("count the years of service", "work out the seniority")),
        Action("ask_works_council", "", "Ask the works council for consent", ("ask the works council", "get the consent of the council")),
    ),
    tables=(
        Noun("hr_employee", "Employees", ("employee", "staff member")),
        Noun("hr_applicant", "Applicants", ("applicant", "candidate")),
        Noun("hr_vacancy", "Open positions", ("vacancy", "open position")),
        Noun("hr_contract", "Contracts of employment", ("employment contract", "work contract")),
        Noun("hr_leave_request", "Requests for leave", ("leave request", "holiday request")),
        Noun("hr_payslip", "Payslips", ("payslip", "pay statement")),
        Noun("hr_training", "Trainings of employees", ("training", "course booking")),
        Noun("hr_benefit", "Benefits of employees", ("benefit", "benefit enrolment")),
        Noun("hr_case", "Cases of the personnel service", ("personnel case", "HR case")),
        Noun("hr_department", "Departments", ("department", "division")),
    ),
    conditions=("the person starts this month", "the manager agrees", "it is longer than two weeks", "the form is incomplete", "they work abroad"),
    splits=(("ood_hr", 160),),
)  # fmt: skip

DEPLOYMENTS = (IT, HR)
