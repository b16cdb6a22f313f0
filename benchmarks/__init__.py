"""Speed, each figure beside a named baseline measured in the same run. Not part of the tests."""
