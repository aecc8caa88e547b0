import type { CrmEvent } from '../../../nodes/CrmPlatform/api/event';
import { matchesEventPattern } from '../../../nodes/CrmPlatform/api/event';
import type { History } from './histories.ts';
import type { ModelN8n } from './n8n.ts';
import type { ModelService } from './service.ts';

/** A history that was lived. */
export interface Played {
	history: History;
	service: ModelService;
	n8n: ModelN8n;
	/** What was chosen, from when to when the publish took (Unix epoch ms). */
	choices: Array<{ node: string; types: string[]; from: number; to: number }>;
	kills: number[];
	restores: number[];
	/** When the stored position was taken away or set back. */
	losses: number[];
	pruned?: boolean;
}

/** Milliseconds around a publish in which either choice may count. */
const slack = 30_000;

/** Every promise of docs/triggers.md that a history has broken. */
export function brokenPromises(played: Played): string[] {
	return [...new Set(played.choices.map(({ node }) => node))].flatMap((node) => [
		...lostOf(played, node),
		...doubledOf(played, node),
		...unchosenOf(played, node),
		...falseAlarmsOf(played, node),
	]);
}

function lostOf(played: Played, node: string): string[] {
	const { history, n8n, service } = played;
	const reports = n8n.reports.filter((one) => one.node === node);
	return service.all
		.filter((event) => service.has(event) && isChosen(played, node, event) === true)
		.filter((event) => {
			const its = rowsOf(played, node, event);
			const isDone = history.doneWhen === 'succeeded' ? its.some(({ status }) => status === 'success') : its.length > 0;
			const at = Date.parse(event.timestamp);
			const isTold = reports.some(
				({ message, at: told }) => named(message, event.id) || (/may be missing/.test(message) && told >= at),
			);
			return !isDone && !isTold;
		})
		.map(({ id }) => `${node}: ${id} was lost untold`);
}

const named = (message: string, id: string): boolean => new RegExp(`\\b${id}\\b|\\d+ events were set aside`).test(message);

function doubledOf(played: Played, node: string): string[] {
	const { history, service, kills, losses, pruned, choices } = played;
	// At the end of an activation n8n stores its copy, and a sibling's store of that moment is set back.
	const isSetBack = choices.some(({ to }) => kills.some((at) => at >= to && at - to < 60_000));
	const isTampered = losses.length > 0 || (isSetBack && history.nodes > 1 && history.groupSize > 1);
	// A key is free again when its execution is deleted; a group that is read again may be another one.
	if (isTampered && (pruned === true || history.groupSize > 1)) return [];
	const isStartedAgain = history.doneWhen === 'succeeded' && history.afterCrash === 'startAgain';
	let repeated = 0;
	const doubled = service.all.filter((event) => {
		const its = rowsOf(played, node, event);
		const counted = history.doneWhen === 'succeeded' ? its.filter(({ status }) => status === 'success') : its;
		repeated += Math.max(0, counted.length - 1);
		return counted.length > 1;
	});
	if (isStartedAgain && isTampered) return [];
	// What was under way at a kill, or had just ended.
	if (isStartedAgain && repeated <= (kills.length + 1) * 2 * 2 * history.groupSize) return [];
	return doubled.map(({ id }) => `${node}: ${id} was started twice`);
}

function unchosenOf(played: Played, node: string): string[] {
	// With the position, the choices that went before are lost. A replica that has not been restored yet hides from the trigger that the log is another one.
	if (played.losses.length > 0) return [];
	if (played.restores.length > 0 && played.history.deeds.some(({ does }) => does === 'lag')) return [];
	return played.service.all
		.filter((event) => isChosen(played, node, event) === false && rowsOf(played, node, event).length > 0)
		.map(({ id }) => `${node}: ${id} was started, and nobody had chosen it`);
}

function falseAlarmsOf({ n8n, restores, losses }: Played, node: string): string[] {
	if (restores.length + losses.length > 0) return [];
	return n8n.reports
		.filter((one) => one.node === node && /may be missing/.test(one.message))
		.map(({ message }) => `${node}: a false alarm: ${message}`);
}

/** Whether the user had chosen an event when it happened; undefined around a change of the choice. */
function isChosen({ choices }: Played, node: string, event: CrmEvent): boolean | undefined {
	const at = Date.parse(event.timestamp);
	const own = choices.filter((one) => one.node === node);
	const verdicts = own.flatMap(({ types, from }, i) => {
		const end = own[i + 1]?.to ?? Infinity;
		const isIn = at >= from - slack && at <= end + slack;
		return isIn ? [types.some((pattern) => matchesEventPattern(pattern, event.type))] : [];
	});
	if (at < own[0]!.to + slack) return at < own[0]!.from - slack ? false : undefined;
	return verdicts.every((one) => one === verdicts[0]) ? verdicts[0] : undefined;
}

const rowsOf = ({ n8n }: Played, node: string, { id }: CrmEvent) =>
	n8n.allRows.filter((row) => row.node === node && row.ids.includes(id));
