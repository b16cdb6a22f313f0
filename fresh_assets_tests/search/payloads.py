"""Replies of search APIs in their providers' shapes, about the fictional world."""

from typing import Any

SERPAPI: dict[str, Any] = {
    "search_metadata": {"status": "Success", "created_at": "2026-02-09 06:00:00 UTC"},
    "search_parameters": {"engine": "google", "q": "who is the mayor of Olven"},
    "answer_box": {
        "type": "currency_converter",
        "result": "1.25 Veldish crown",
        "price": 1.25,
        "currency": "crown",
        "sources": [{"name": "Olven Exchange"}],
        "thumbnail": "https://img.example/t.png",
    },
    "knowledge_graph": {
        "title": "Olven",
        "type": "City",
        "kgmid": "/m/0x",
        "population": "81,204 (2026)",
        "mayor": {"name": "Ada Brandt", "since": "2025"},
        "rivers": ["Sarn", "Mell"],
        "source": {"name": "Encyclopedia", "link": "https://www.encyclopedia.example/olven"},
        "header_images": [{"image": "https://img.example/o.png"}],
    },
    "sports_results": {
        "title": "Olven Rovers",
        "rankings": "1st in North League",
        "games": [{"tournament": "North League", "date": "Feb 8", "teams": [{"name": "Olven Rovers", "score": "3"}, {"name": "Mell Town", "score": "1"}]}],
    },
    "organic_results": [
        {
            "position": 1,
            "title": "Ada Brandt elected",
            "link": "https://www.olven.example/news/1",
            "displayed_link": "https://www.olven.example › news",
            "date": "2 days ago",
            "snippet": "Ada Brandt is the mayor.",
            "snippet_highlighted_words": ["Ada Brandt"],
            "rich_snippet": {"top": {"extensions": ["Rating 4.5"]}, "bottom": {"extensions": ["81 reviews"]}},
            "list": ["First: Brandt", "Second: Moll"],
            "contents": {"table": [["Year", "Mayor"], ["2025", "Brandt"]]},
        }
    ],
    "top_stories": [
        {"title": "Mayor opens bridge", "link": "https://herald.example/bridge", "source": "Herald", "date": "5 hours ago"}
    ],
    "questions_and_answers": [
        {"question": "Who runs Olven?", "answer": "Its mayor, Ada Brandt.", "link": "https://qa.example/1"}
    ],
    "related_questions": [
        {"question": "How old is Ada Brandt?", "title": "Ada Brandt's life", "snippet": "She is 51.", "date": "Jan 3, 2026", "link": "https://bio.example/brandt"}
    ],
    "ai_overview": {
        "text_blocks": [
            {"type": "paragraph", "snippet": "The mayor of Olven is Ada Brandt.", "reference_indexes": [0]},
            {"type": "list", "list": [{"title": "Term:", "snippet": "2025 to 2029"}]},
        ],
        "references": [{"title": "Olven", "link": "https://www.olven.example/", "index": 0}],
    },
}  # fmt: skip

SERPER: dict[str, Any] = {
    "searchParameters": {"q": "who is the mayor of Olven", "type": "search"},
    "answerBox": {"title": "Mayor", "answer": "Ada Brandt", "snippet": "Ada Brandt, since 2025", "snippetHighlighted": ["since 2025"], "link": "https://olven.example/"},
    "knowledgeGraph": {"title": "Olven", "type": "City", "description": "A city on the Sarn.", "descriptionLink": "https://encyclopedia.example/olven", "attributes": {"Population": "81,204"}},
    "organic": [
        {"title": "Ada Brandt elected", "link": "https://olven.example/news/1", "snippet": "Ada Brandt is the mayor.", "date": "Feb 7, 2026", "attributes": {"Office": "Mayor"}, "position": 1}
    ],
    "topStories": [{"title": "Mayor opens bridge", "link": "https://herald.example/bridge", "source": "Herald", "date": "5 hours ago"}],
    "peopleAlsoAsk": [{"question": "How old is Ada Brandt?", "snippet": "She is 51.", "title": "Ada Brandt's life", "link": "https://bio.example/brandt"}],
}  # fmt: skip

BRAVE: dict[str, Any] = {
    "type": "search",
    "query": {"original": "who is the mayor of Olven"},
    "infobox": {"results": [{"title": "Olven", "description": "City", "long_desc": "A city on the Sarn.", "attributes": [["Population", "81,204"]], "url": "https://encyclopedia.example/olven"}]},
    "web": {"results": [
        {"title": "Ada Brandt elected", "url": "https://www.olven.example/news/1", "description": "<strong>Ada Brandt</strong> is the mayor &amp; more.", "page_age": "2026-02-07T08:00:00", "age": "2 days ago", "extra_snippets": ["She won with 54 %."]}
    ]},
    "news": {"results": [{"title": "Mayor opens bridge", "url": "https://herald.example/bridge", "description": "On Sunday.", "age": "5 hours ago"}]},
    "discussions": {"results": [{"title": "New mayor?", "url": "https://forum.example/9", "description": "Yes.", "data": {"top_comment": "Brandt it is"}}]},
    "faq": {"results": [{"question": "Who runs Olven?", "answer": "Ada Brandt.", "title": "Olven FAQ", "url": "https://qa.example/1"}]},
}  # fmt: skip

SEARXNG: dict[str, Any] = {
    "query": "who is the mayor of Olven",
    "answers": [{"answer": "Ada Brandt", "url": "https://olven.example/"}, "Brandt"],
    "infoboxes": [{"infobox": "Olven", "content": "A city on the Sarn.", "urls": [{"title": "x", "url": "https://encyclopedia.example/olven"}], "attributes": [{"label": "Population", "value": "81,204"}]}],
    "results": [{"title": "Ada Brandt elected", "url": "https://olven.example/news/1", "content": "Ada Brandt is the mayor.", "publishedDate": "2026-02-07T00:00:00"}],
    "unresponsive_engines": [],
}  # fmt: skip

WIKIPEDIA: dict[str, Any] = {
    "batchcomplete": True,
    "query": {"pages": [
        {"pageid": 2, "title": "List of mayors of Olven", "index": 2, "extract": "The mayors of Olven.", "revisions": [{"timestamp": "2025-12-01T10:00:00Z"}], "canonicalurl": "https://en.wikipedia.org/wiki/List_of_mayors_of_Olven"},
        {"pageid": 1, "title": "Olven", "index": 1, "extract": "Olven is a city. Its mayor is Ada Brandt.", "revisions": [{"timestamp": "2026-02-01T10:00:00Z"}], "canonicalurl": "https://en.wikipedia.org/wiki/Olven"},
    ]},
}  # fmt: skip

REPLIES = {
    "serpapi": SERPAPI,
    "serper": SERPER,
    "brave": BRAVE,
    "searxng": SEARXNG,
    "wikipedia": WIKIPEDIA,
}
