A library in Dublin has begun to lend seeds instead of books. Anybody with a card can take home ten small bags of beans, peas or marigolds, said Maria Brennan, who runs the house near the old canal, and brings back seeds of the plants in autumn.

The idea came from Canada, where Maria Brennan spent a year as a student and saw such a shelf in Toronto. Back home she asked Trinity College for help, and its gardeners gave the first two hundred bags, each with a sheet of paper that tells how deep and how far apart the seeds should lie.

Since January more than nine hundred bags have gone over the counter, and a second shelf was needed within weeks.

People who have no garden grow beans on balconies and in buckets, and some share a strip of grass behind the fire station.

A school class from Cork came by train to see the shelf and went home with enough peas for the whole yard.

Gardeners of Trinity College look at what comes back each autumn, because mixed seeds would spoil the next year's beds.

In Toronto the shelf that served as the model has long been joined by forty others, and none of them has ever asked for a fine.

Is it still a library? The woman at the counter laughs when she hears that.

Next spring Maria Brennan hopes to lend tools too, for a spade that stands in a cellar digs nothing.

Every second visitor in Dublin has never held a library card before, which is why the city council pays for the bags.

@highlight

Library in Dublin lends seeds, and readers bring back new ones in autumn

@highlight

Maria Brennan brought the idea from Toronto in Canada

@highlight

Trinity College gave the first two hundred bags
