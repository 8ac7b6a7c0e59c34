The bridge between Hull and the island of Sandrey will stay closed until the middle of May, Mayor Helen Carter said on Monday, after divers found a crack in the second pier.

The crack was seen first by David Okoro, a diver who works for Northern Harbours and who had gone down to look at a lost anchor. He told the police at once, and within an hour the first buses were turned back on the road to Hull.

Some four thousand people live on Sandrey, and most of them cross the water every morning to work in factories, schools and hospitals. Shops on both shores say that they have not been so empty since the great storm of their grandparents' time.

Nobody was hurt. Engineers measured the crack again at noon and found that it had not grown since the morning.

For the time being ships that belong to Northern Harbours take people across, although the company had planned to sell two of them this spring.

Teachers from Hull have begun to give lessons in a church hall, so that no child has to stand in the wind and wait for a boat.

A letter in which Helen Carter asked for eleven million pounds was read aloud when the council came together, and nobody voted against it.

How long will the repair take? Those who built the first piers needed six summers.

What worries fishermen most is that David Okoro believes a second pier may be just as weak, since both were made with the same stone.

The ministry in London has answered that it will look at the numbers, and that other towns are waiting too.

On Sandrey a bakery gave away bread that could not be delivered, and by evening there was none left.

@highlight

Bridge to Sandrey closed until May after a diver finds a crack

@highlight

Ferries of Northern Harbours carry workers every half an hour

@highlight

Mayor Helen Carter wants money from London for new piers
