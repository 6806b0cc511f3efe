"""The words of OpenAI's API over HTTP, spoken by an engine."""
