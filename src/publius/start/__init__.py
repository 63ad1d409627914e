"""``start``: the guided path over all rooms: questions and steps over one record of answers."""
