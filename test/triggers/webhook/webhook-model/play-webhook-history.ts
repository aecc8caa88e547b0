import { SimulatedClock } from '../../../../bench/scale/clock.ts';
import type { WebhookStep } from './webhook-histories.ts';
import { WebhookModelN8n } from './webhook-n8n.ts';
import { WebhookModelService, type ModelEvent } from './webhook-service.ts';

const minute = 60_000;
/** Steps after which a restart may start the workflow a second time, as docs/reference/triggers.md says. */
const repeating = ['publish', 'delete', 'divert', 'oldStore', 'loseAnswers', 'copies'];

let workflows = 0;

interface WebhookWorld {
	clock: SimulatedClock;
	n8n: WebhookModelN8n;
	service: WebhookModelService;
}

export function newWebhookWorld(): WebhookWorld {
	const clock = new SimulatedClock();
	const n8n = new WebhookModelN8n(clock, `w${++workflows}`);
	return { clock, n8n, service: new WebhookModelService(clock, async (...delivery) => await n8n.post(...delivery)) };
}

/** Plays a history with the real trigger, waits until everything is done, and returns the broken promises. */
export async function brokenWebhookPromises({ clock, n8n, service }: WebhookWorld, history: WebhookStep[]): Promise<string[]> {
	const act: { [Does in WebhookStep['does']]: (step: Extract<WebhookStep, { does: Does }>) => Promise<void> | void } = {
		happen: () => service.happen(),
		unsent: () => service.happen('unsent'),
		unreadable: () => service.happen('unreadable'),
		wait: async ({ ms }) => await clock.advance(ms),
		publish: async () => await n8n.publish(),
		delete: () => service.subscriptions.clear(),
		pause: () => service.tamper((subscription) => void (subscription.status = 'paused')),
		resume: () => service.tamper((subscription) => void (subscription.status = 'active')),
		rotate: () => service.tamper((subscription) => service.rotate(subscription)),
		divert: () => service.tamper((subscription) => void (subscription.url = 'https://elsewhere.example/')),
		narrow: () => service.tamper((subscription) => void (subscription.events = ['deal.won'])),
		widen: () => service.tamper((subscription) => void (subscription.events = ['contact.created'])),
		late: ({ ms }) => void (service.late = ms),
		unreachable: async ({ ms }) => {
			n8n.isReachable = false;
			await clock.advance(ms);
			n8n.isReachable = true;
		},
		fail: ({ count }) => void (service.failures = count),
		loseAnswers: ({ count }) => void (service.lostAnswers = count),
		copies: ({ count }) => void (service.copies = count),
		oldStore: ({ count }) => void (n8n.staticData = count === 0 ? '{}' : (n8n.earlier.at(-count) ?? n8n.staticData)),
		kill: async ({ down, address, starts }) => {
			await n8n.kill();
			await clock.advance(down);
			await n8n.start(address, starts);
		},
	};
	await n8n.publish();
	await clock.advance(15 * minute);
	n8n.earlier.splice(0);
	const begin = clock.now();
	for (const step of history) {
		await act[step.does](step as never);
		// Deliveries take their time.
		await clock.advance(50);
	}
	Object.assign(service, { failures: 0, lostAnswers: 0, late: 0, copies: 1 });
	for (const status of ['paused', 'active']) {
		if (status === 'active')
			service.tamper((subscription) => void (subscription.status = subscription.status === 'paused' ? status : subscription.status));
		await clock.advance(25 * minute);
	}
	// Whether an event is given up shows once others arrive.
	for (let i = 0; i < 5 && service.events.some(({ problem }) => problem); i++) {
		service.happen();
		await clock.advance(12 * minute);
	}
	await service.retryAll();
	await clock.advance(minute);
	const broken = service.events.flatMap((event) => (event.problem && service.willTry(event) ? [] : verdictOf(event, n8n, history)));
	const isErased = history.some((step) => step.does === 'oldStore' && step.count === 0);
	const isLong =
		isErased ||
		history.some((step) => step.does === 'wait' && step.ms > 600 * minute) ||
		history.some((step) => step.does === 'kill' && step.down > 200 * minute);
	await n8n.kill();
	return [...broken, ...(isLong ? [] : falseAlarms(n8n, service, begin))];
}

function falseAlarms({ reports }: WebhookModelN8n, { events }: WebhookModelService, begin: number): string[] {
	const isTrue = (message: string) =>
		undeliverableIn(message)?.every((named) => events.some(({ id, problem }) => problem && id === named)) === true;
	const alarms = reports.filter(({ message, at }) => at >= begin && /may be missing/.test(message) && !isTrue(message));
	return alarms.map(({ message }) => `a false alarm: ${message}`);
}

/** The IDs of the events that a report says the CRM could not deliver; undefined if it is about something else. */
const undeliverableIn = (message: string): string[] | undefined => /could not deliver (.*?)\. Compare/.exec(message)?.[1]?.split(', ');

function verdictOf({ id, at }: ModelEvent, { started, reports }: WebhookModelN8n, history: WebhookStep[]): string[] {
	const executions = started.filter((execution) => execution.id === id);
	const isAbout = (report: { message: string; at: number }) =>
		/may be missing/.test(report.message) && (undeliverableIn(report.message)?.includes(id) ?? report.at >= at);
	if (executions.length === 0) return reports.some(isAbout) ? [] : [`${id} was lost without a report`];
	const isAdmitted =
		new Set(executions.map(({ process }) => process)).size === executions.length && history.some(({ does }) => repeating.includes(does));
	return executions.length === 1 || isAdmitted ? [] : [`${id} was started twice`];
}
