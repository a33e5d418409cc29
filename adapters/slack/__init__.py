"""Slack, through slack-bolt and slack-sdk. The facts of the platform stop here."""
