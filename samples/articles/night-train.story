The night train from Vienna to Rome will run again from June, the Austrian railways announced on Tuesday. It had been stopped nine years ago because too few people bought a bed, and because cheap flights from Vienna took less than two hours.

Anna Leitner, who leads the railways' travel department, said that all three hundred beds of the first night were sold within a day. Most of those who bought one are families and older people, she said, and a third of them live in Germany and change trains in Salzburg.

The cars were built in Poland and have small rooms with a door that can be locked, a shower and a window that opens. A ticket costs as much as a night in a simple hotel.

Flights between the two capitals have become dearer this year, and airports have raised what they charge for a suitcase.

Workers in Poland needed fourteen months for the first twenty cars, twice as long as had been agreed.

When a newspaper asked her whether she would sleep on board herself, Anna Leitner said that she had done little else since Christmas.

Hotels near the station in Salzburg fear that travellers who used to stay for a night will now only change platforms.

Will there be breakfast? There will, with rolls, jam and coffee.

Shopkeepers in Rome expect guests who arrive early, rested and hungry, and some will open at seven.

Further lines are being planned, and one of them may lead through Germany to the sea by the end of next year.

@highlight

Night train between Vienna and Rome comes back in June

@highlight

Beds of the first night were sold within a day, says Anna Leitner

@highlight

Cars were built in Poland; travellers from Germany change in Salzburg
