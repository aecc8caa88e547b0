import { type INodeExecutionData, type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { inParallel } from '../../api/inParallel';
import { steady, systemClock } from '../../base/clock';
import { RecentMap } from '../../base/maps';
import { processMemory } from '../../base/processMemory';
import { eventOutput, withNamesOfLinks } from '../eventOutput';
import { isNewestState, serialized, triggerKey } from '../storedState';
import { asNodeError, isStartedByN8n, reportFailure } from '../triggerContext';
import { ledgerOf } from './ledger';
import { Poller, Progress } from './poller';
import { type Access, openAccess, type PublishedTrigger, readSettings } from './pollSettings';
import { latestChosen, storedPosition } from './position';
import { resumeOrBegin } from './resumeOrBegin';

const reportedStarts = processMemory(new RecentMap<string, true>(10_000));

/**
 * Polls from the stored position on. A manual run returns the latest events or records, and leaves the position alone.
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

/** The latest events in sequence, or the newest records. @throws NodeOperationError if there are none */
async function testItems({ n8n, settings }: PublishedTrigger, { api, log, records }: Access): Promise<INodeExecutionData[]> {
	const { output } = settings.events;
	const events = records ? [] : (await latestChosen(log, settings.events, maxShown)).reverse();
	const items = records ? await records.latest(maxShown) : await inParallel(events, async (event) => await eventOutput(event, output, api));
	const found = await withNamesOfLinks(api, items, output.names, records?.scope.template);
	if (found.length > 0) return found.map((json) => ({ json }));
	if (records) throw new NodeOperationError(n8n.getNode(), 'No record matches');
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events matches', {
		description:
			'The trigger will still work once the workflow is published. To see an event here, make a matching change in the CRM, then test again.',
	});
}

class PollerMap extends RecentMap<string, Poller> {
	override clear(): void {
		for (const poller of this.values()) poller.stop();
		super.clear();
	}
}

/** The latest poller of each trigger: n8n starts a trigger anew with each publish, and only this process knows its running executions. */
const pollers = processMemory(new PollerMap(10_000));

/** Polls from where this process or the stored position stopped, whichever is newer. */
export async function startPolling(published: PublishedTrigger, access: Access): Promise<ITriggerResponse> {
	const { n8n } = published;
	return await serialized(n8n, async () => {
		const trigger = { ...published, clock: steady(published.clock) };
		const key = triggerKey(n8n);
		const previous = pollers.get(key);
		// n8n may not have closed it, and what it read from now on would be read again.
		previous?.stop();
		const stored = storedPosition(n8n);
		const latest = previous && (!stored || isNewestState(n8n, previous.progress.version)) ? previous.progress : undefined;
		const position = await resumeOrBegin(trigger, access.log, latest?.position ?? stored);
		const progress = new Progress(n8n, position, latest?.ledger ?? ledgerOf(stored?.open ?? []), trigger.clock.now());
		const poller = new Poller(trigger, access, progress);
		if (previous) previous.successor = poller;
		pollers.set(key, poller);
		// n8n stores the position at the end of the activation.
		progress.put({ isTakeover: true });
		void poller.run();
		return { closeFunction: async () => poller.close() };
	});
}
