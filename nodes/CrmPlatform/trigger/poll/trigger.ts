import { type INodeExecutionData, type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { inParallel } from '../../api/inParallel';
import { systemClock } from '../../base/clock';
import { RecentMap } from '../../base/maps';
import { eventOutput, namedRecords } from '../eventOutput';
import { asNodeError, reportFailure } from '../reportFailure';
import { triggerKey } from '../storedState';
import { isStartedByN8n } from '../triggerContext';
import { type Access, openAccess } from './access';
import { startPolling } from './poller';
import { type PublishedTrigger, readSettings } from './pollSettings';
import { latestChosen } from './position';

/** Triggers whose failed start was reported. */
const reportedStarts = new RecentMap<string, true>(10_000);

/**
 * Starts executions with events of the service, from a stored position on. A manual run returns the latest
 * events or records and leaves the position alone.
 *
 * @throws NodeApiError or NodeOperationError in the user's words, which makes the publish fail
 */
export async function startPollTrigger(n8n: ITriggerFunctions, clock = systemClock): Promise<ITriggerResponse> {
	try {
		const api = await connect(n8n, clock);
		const trigger = { n8n, clock, settings: await readSettings(n8n, api) };
		const access = await openAccess(trigger, api);
		if (n8n.getMode() === 'manual') return { manualTriggerFunction: async () => n8n.emit([await testItems(trigger, access)]) };
		// Before n8n 2.20, `emit` takes no key, so that a crash would start events twice.
		if (n8n.emit.length < 4) throw new Error(tooOld);
		const response = await startPolling(trigger, access);
		reportedStarts.delete(triggerKey(n8n));
		return response;
	} catch (error) {
		const nodeError = asNodeError(n8n, error);
		// n8n shows a failed publish to the user, but not a failed start of its own, which it repeats.
		if (isStartedByN8n(n8n) && !reportedStarts.get(triggerKey(n8n))) {
			reportedStarts.set(triggerKey(n8n), true);
			reportFailure(n8n, nodeError);
		}
		throw nodeError;
	}
}

const tooOld = 'This n8n is too old for the CRM Platform Poll Trigger, which needs n8n 2.20 or newer. Update n8n, then try again.';

/** Number of events or records that a test shows. */
const maxShown = 5;

/**
 * The latest events in sequence, or the newest records, for a test by hand.
 *
 * @throws NodeOperationError if there is nothing to show
 */
async function testItems({ n8n, settings }: PublishedTrigger, { api, log, records }: Access): Promise<INodeExecutionData[]> {
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
