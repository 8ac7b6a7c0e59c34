LONGEST = 200


def question_of(item):
    return item["question"]


def reworded(item, question):
    """None for what is no question."""
    question = "".join(one for one in question if one.isprintable()).strip()
    return {**item, "question": question} if 0 < len(question) <= LONGEST else None
