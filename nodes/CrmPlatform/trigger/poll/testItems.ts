import { NodeOperationError, type INodeExecutionData, type ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { passesFilter } from '../eventFilter';
import type { EventLog } from '../../log/eventLog';
import type { EventChoice } from '../eventProperties';
import { eventOutput } from '../eventOutput';
import type { RecordReader } from './records';

/** Number of events or records that a test shows, and of events that it reads for them. */
const maxShown = 5;
const maxSearched = 1_000;

/**
 * The latest events in sequence, or the newest records, for a test by hand.
 *
 * @throws NodeOperationError if there is nothing to show
 */
export async function testItems(
	n8n: ITriggerFunctions,
	api: Connection,
	log: EventLog,
	{ events, filter, output }: EventChoice,
	records: RecordReader | undefined,
): Promise<INodeExecutionData[]> {
	if (records) {
		const found = await records.latest(maxShown);
		if (found.length > 0) return found.map((json) => ({ json }));
		throw new NodeOperationError(n8n.getNode(), 'No record matches');
	}
	const items: INodeExecutionData[] = [];
	let searched = 0;
	for await (const event of log.newestFirst(events)) {
		if (passesFilter(event, filter)) {
			items.unshift({ json: await eventOutput(event, output, async () => api) });
		}
		searched += 1;
		if (items.length === maxShown || searched === maxSearched) break;
	}
	if (items.length > 0) return items;
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events matches', {
		description:
			'The trigger will still work once the workflow is published. To see an event here, make a matching change in the CRM, then test again.',
	});
}
