"""The declared schema and what analysts query; installed as `fresh_assets.sql`."""
