The clock of the town hall in Bergen, which had stood still since a lightning struck it in 1986, strikes the hours again. Lars Nilsen, a watchmaker of eighty-one years, mended it with parts that he had kept in a drawer since the day of the storm.

The city had asked firms in Norway and Switzerland for an offer, and the cheapest came to more than two hundred thousand euros. Then Lars Nilsen wrote to the mayor, Ingrid Solberg, that he would do it for the price of the oil, and for a key to the tower.

He worked for eleven weeks, alone on most days, with a lamp on his forehead and a rope around his waist.

Neighbours set their watches by it, and a few have complained about the strokes at night.

A firm from Switzerland has sent a letter to say how beautiful it finds the work, and has asked for drawings.

At the feast on Sunday Ingrid Solberg climbed all hundred and twelve steps in order to hand over the key herself.

Tourists in Bergen used to ask why it was always twenty past four, and guides had invented a story about a sailor.

What will he do next? There is a barometer in the harbour that has shown rain for thirty years.

Under the bell there is a small plate now on which Lars Nilsen has scratched the names of all who wound it before him.

Two other towns in Norway have written to him, and one of them has offered to pay for the oil.

@highlight

Clock in Bergen strikes again after decades

@highlight

Watchmaker Lars Nilsen mended it for the price of the oil

@highlight

Mayor Ingrid Solberg had offers from Norway and Switzerland
