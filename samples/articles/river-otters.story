Otters have come back to the river Tamar for the first time in forty years. A camera that Ruth Pascoe had hung under a bridge near Plymouth took pictures of a mother with two young ones on three nights in March, the Devon Wildlife Trust reported on Friday.

Ruth Pascoe, a retired nurse, had bought the camera in order to find out who emptied her bin. Instead she saw the animals climb over stones, shake themselves and slide back into the water, and sent the pictures to the Devon Wildlife Trust before breakfast.

Otters vanished from most rivers in England when farmers used poisons that killed the fish. The last one here was seen near a mill by a boy named Tom Hale, who is a grandfather today.

Clean water alone is not enough for them: they need banks with old trees, in whose roots they can sleep by day.

Volunteers of the Devon Wildlife Trust have planted willows along nine miles of the bank since the turn of the century.

Anglers are less glad, for an otter eats a kilo of fish a day and makes no difference between a perch and a prize salmon.

A sandwich shop in Plymouth sells biscuits in the shape of an otter, and gives a part of the price away.

Who would have thought that a bin could do so much good?

By the mill a sign now says that Tom Hale saw the last one there, although he himself is not sure of the year.

For other counties in England the news is a hope, since the animals walk up to twelve miles in a night and settle where it is quiet.

Since her pictures were printed, Ruth Pascoe has been asked to speak in six schools, and she has bought a second camera.

@highlight

Otters filmed on the Tamar near Plymouth after forty years

@highlight

Ruth Pascoe, a retired nurse, hung up the camera

@highlight

Devon Wildlife Trust hopes that they will stay; Tom Hale saw the last one as a boy in England
