"""Reasons why a question has no plan, with changes that were each searched."""
