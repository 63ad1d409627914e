"""``start``: the guided path over all rooms, as questions and steps over one record of answers, for terminal and page."""
