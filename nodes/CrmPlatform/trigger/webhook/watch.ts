import {
	NodeApiError,
	NodeOperationError,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';

import { connect } from '../../api/connection';
import { systemClock } from '../../api/http/request';
import { storeOnly } from '../unwritable';
import { deliveredUntil, recoverEvents, recoverHours } from './backlog';
import { inactive } from './lifecycle';
import { isAsWanted, openSubscription, tellsSecret } from './open';
import { isStart, readSubscription, storeSubscription, type SubscriptionPlace } from './place';
import { findSubscription, type Subscription } from './subscription';
import { inTurn } from './turns';

/** Milliseconds between two looks at the subscription, before the first after a start, and after a failure. */
const interval = 10 * 60_000;
const untilFirst = 5_000;
const afterFailure = 60_000;

/** Looks in a row that fail before the user is told; an outage of the service loses nothing. */
const mostFailures = 5;

/** Milliseconds after which n8n stores how far events have been delivered, though nothing else has happened. */
const longestUnstored = 12 * 60 * 60_000;

/** What ends the watch of each trigger of this process. */
const watches = new Map<string, AbortController>();

/**
 * Looks now and then whether the subscription of a published workflow is there, active, and as the
 * workflow needs it. One that somebody has deleted, disabled or changed is restored, and what it has
 * missed is recovered; so is what was missed while n8n was down, as n8n calls this at each start.
 */
export function watchSubscription(n8n: ITriggerFunctions, clock = systemClock): ITriggerResponse {
	const hours = recoverHours(n8n);
	const closing = new AbortController();
	const { signal } = closing;
	const name = `${n8n.getInstanceId()} ${String(n8n.getWorkflow().id)} ${n8n.getNode().id}`;
	// n8n may not have closed the one before.
	watches.get(name)?.abort();
	watches.set(name, closing);
	/** Whether nothing can have been missed that was not recovered. */
	let isWell = !isStart(n8n);
	/** Whether the secret was replaced since the deliveries fail. */
	let isRenewed = false;
	let isFirst = isStart(n8n);
	let wait = isFirst ? untilFirst : interval;
	let reported = '';
	let failures = 0;
	let saved = clock.now();

	const keep = (place: SubscriptionPlace, isUrgent: boolean): void => {
		storeSubscription(n8n, place);
		if (!isUrgent && clock.now() - saved < longestUnstored) return;
		saved = clock.now();
		storeOnly(n8n);
	};

	/** Once for each problem: as a failed execution, which starts the error workflow. */
	const report = (error: unknown): void => {
		const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
		const shown = isKnown ? error : new NodeOperationError(n8n.getNode(), error as Error);
		if (reported !== shown.message) n8n.saveFailedExecution(shown);
		reported = shown.message;
	};

	const look = async (): Promise<void> => {
		const place = readSubscription(n8n);
		const { id, url, events } = place;
		// Not published, or the publish has failed.
		if (signal.aborted || id === undefined || url === undefined || events === undefined) return;
		const api = await connect(n8n, clock);
		const wanted = { url, events };
		const found = await findSubscription(api, id);
		const seen = found?.own;
		const isFailing = typeof seen?.failing_since === 'string';
		// Deliveries may fail for a secret that another client has replaced: the service does not tell.
		const isDoubtful = isFailing && !isRenewed && seen.status === 'active' && !tellsSecret(seen);
		if (!found || isDoubtful || !isAsWanted(found.own, wanted, place)) {
			isWell = false;
			const opened = await openSubscription(n8n, api, wanted, place);
			if (opened.own.status !== 'active') {
				report(inactive(n8n, opened.own));
				return;
			}
			isRenewed = true;
			const restored = isDoubtful ? describeRenewed(id) : describeRestored(id, seen);
			n8n.logger.warn(`${n8n.getNode().name}: ${restored}`);
			if (hours === undefined) report(new Error(`${restored}. Events may be missing, as Recover Missed Events is off`));
			else if (isDoubtful) report(new Error(restored));
			// Before the recovery, which is repeated if it fails.
			keep(opened.place, true);
			await recoverEvents(api, opened.place, hours);
			isWell = true;
		} else if (isFailing) {
			// Other processes may have an older secret, if something has set the static data back.
			if (isWell) keep(place, true);
			isWell = false;
			wait = afterFailure;
			// The service may try again hours later what has failed while n8n was down.
			if (isFirst) await recoverEvents(api, place, hours);
			isFirst = false;
		} else {
			if (!isWell) await recoverEvents(api, place, hours);
			isWell = true;
			isFirst = false;
			isRenewed = false;
			reported = '';
			// What was recovered just now is among the deliveries that are pending.
			keep({ ...place, deliveredUntil: await deliveredUntil(api, found, place) }, false);
		}
	};

	const run = async (): Promise<void> => {
		while (!signal.aborted) {
			await clock.sleep(wait, signal).catch(() => undefined);
			try {
				wait = interval;
				await inTurn(n8n, look);
				failures = 0;
			} catch (error) {
				failures += 1;
				n8n.logger.warn(`${n8n.getNode().name}: ${(error as Error).message}`);
				if (failures === mostFailures) report(error);
				wait = failures < mostFailures ? afterFailure : interval;
			}
		}
	};
	void run();

	return {
		closeFunction: async () => {
			closing.abort();
			if (watches.get(name) === closing) watches.delete(name);
		},
	};
}

const describeRestored = (id: string, seen: Subscription | undefined): string =>
	seen
		? `The webhook ${id} was ${seen.status === 'active' ? 'changed' : seen.status} in the CRM Platform. It is as this trigger needs it again`
		: `The webhook ${id} was deleted in the CRM Platform. The trigger has subscribed again`;

const describeRenewed = (id: string): string =>
	`The deliveries of the webhook ${id} fail, and the CRM Platform does not tell whether its secret was replaced. The trigger has replaced it by a new one`;
