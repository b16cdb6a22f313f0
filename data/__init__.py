"""Settings that ship with the project; installed as `fresh_assets.data`."""
