"""Stories of our own writing about taking a bus: two by people who have never met."""

from typing import Any

DOCUMENT: dict[str, Any] = {
    "scenario": "taking the bus to town",
    "hint": "It is a bus in a city, and you have no ticket yet.",
}
STORY = (
    "Yesterday I wanted to buy you a birthday card, and the shop is far away. So I put on my coat and walked to the"
    " stop at the corner. A sign there says when the bus comes, but I always look down the road anyway.\n\nWhen it"
    " came, I held out my arm, so that the driver knew that I was there. The door went pssst! I climbed up, gave the"
    " driver two coins and got a paper ticket. I sat by the window with my bag on my knees. Before my stop I pushed"
    " the red button, waited until the bus stood quite still, and got off."
)
OTHER = (
    "Do you know how grandma gets to the market? First she looks for some coins in the blue cup. Then she waits under"
    " the little roof with all the other people. Nobody talks much, and everybody looks at the same empty street. At"
    " last the big green thing rolls up and lowers itself with a sigh. I tell the lady at the wheel where I want to"
    " go, pay her, and hold on to a pole, because all the seats are taken. A bell rings when somebody wants to leave."
    " At the market square I step down and wave."
)
FIELDS: dict[str, str] = {"story": STORY}
