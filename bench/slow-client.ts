import type { ClientOrder } from './other-client.ts';
import { searches } from './searches.ts';
import { serverAt } from './server-process.ts';
import { slowActivities } from './slow-activities.ts';

const [url, activity] = process.argv.slice(2) as [string, string];
const server = serverAt(url);
const slow = { ...slowActivities, ...searches }[activity]!;

let isPaused = false;
let round = 0;

/** Repeats the activity until it is told to pause, at least once. */
async function repeat(): Promise<void> {
	isPaused = false;
	do await slow(server, round++);
	while (!isPaused);
	process.send!('paused');
}

process.on('message', (order: ClientOrder) => {
	if (order === 'begin') void repeat();
	else isPaused = true;
});
