"""What a fix has to show, beyond that the failure is gone."""
