import { type INodeExecutionData, NodeOperationError } from 'n8n-workflow';

import { inParallel } from '../../api/inParallel';
import { eventOutput, namedRecords } from '../eventOutput';
import type { Access } from './access';
import type { PublishedTrigger } from './pollSettings';
import { latestChosen } from './position';

/** Number of events or records that a test shows. */
const maxShown = 5;

/**
 * The latest events in sequence, or the newest records, for a test by hand.
 *
 * @throws NodeOperationError if there is nothing to show
 */
export async function testItems({ n8n, settings }: PublishedTrigger, { api, log, records }: Access): Promise<INodeExecutionData[]> {
	const { output } = settings.events;
	const events = records ? [] : (await latestChosen(log, settings.events, maxShown)).reverse();
	const items = records ? await records.latest(maxShown) : await inParallel(events, async (event) => await eventOutput(event, output, api));
	const found = await namedRecords(api, items, output.names, records?.scope.template);
	if (found.length > 0) return found.map((json) => ({ json }));
	if (records) throw new NodeOperationError(n8n.getNode(), 'No record matches');
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events matches', {
		description:
			'The trigger will still work once the workflow is published. To see an event here, make a matching change in the CRM, then test again.',
	});
}
