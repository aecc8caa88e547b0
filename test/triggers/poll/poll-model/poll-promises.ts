import type { CrmEvent } from '../../../../nodes/CrmPlatform/log/crmEvent';
import { copyBroken } from './copies.ts';
import { isExcused, isSetAside } from './excuses.ts';
import type { ModelExecution, PollModelN8n } from './poll-n8n.ts';
import { counts, type Played } from './played.ts';
import { isNewBeginning, isNeverWanted, isWanted } from './wanted.ts';

/** Every guarantee of docs/reference/triggers.md that a history has broken. */
export function brokenPollPromises(played: Played): string[] {
	return [...new Set(played.choices.map(({ node }) => node))].flatMap((node) => [
		...lostOf(played, node),
		...doubledOf(played, node),
		...unchosenOf(played, node),
		...falseAlarmsOf(played, node),
		...copyBroken(played, node),
	]);
}

function lostOf(played: Played, node: string): string[] {
	const publications = played.choices.filter((publication) => publication.node === node);
	return played.service.all
		.filter((event) => played.service.has(event) && isWanted(publications, event))
		.filter(
			(event) =>
				![...rowsOf(played, node, event), ...changesOf(played, node, event)].some((row) => counts(publications, row)) &&
				!isExcused(played, node, event),
		)
		.map(({ id, sequence }) => `${node}: ${id} (${sequence}) was lost without a report`);
}

function doubledOf(played: Played, node: string): string[] {
	const { history, service, kills, losses, pruned, choices, restores } = played;
	const publications = choices.filter((publication) => publication.node === node);
	const groupSize = Math.max(...publications.map(({ settings }) => settings.groupSize));
	const isRetried = publications.some(({ settings }) => settings.doneWhen === 'succeeded');
	const isStartedAgain = isRetried && history.afterCrash === 'startAgain';
	const isCounted = ({ status }: ModelExecution) => status !== 'new' && (!isRetried || status === 'success');
	// At the end of an activation, n8n stores its copy, which sets back what a sibling has just stored.
	const setBack = choices.filter(({ node: other, to }) => other !== node && kills.some((at) => at >= to && at - to < 60_000));
	// A lost position is restored from what n8n knows; an older one is taken for the newest.
	const isRestored = groupSize === 1 && pruned !== true && played.setBack.length === 0;
	const isPruned = pruned === true && publications.some(({ from }, i) => i > 0 && isNewBeginning(publications, i) && from > 0);
	/** A key is free again once its execution is deleted, and a group that is read again may have other members. */
	const isRepeatable = (at: number): boolean => {
		const lost = [...(isRestored ? [] : losses), ...(groupSize > 1 || isStartedAgain ? setBack.map(({ to }) => to) : [])];
		const wasSetBack = lost.some((loss) => kills.some((kill) => kill >= loss && kill >= at));
		if (wasSetBack && (pruned === true || groupSize > 1 || isStartedAgain)) return true;
		// Another beginning asks n8n what it has started.
		return (isPruned || groupSize > 1) && publications.some(({ from }, i) => i > 0 && isNewBeginning(publications, i) && from >= at - 1_000);
	};
	const doubled = service.all
		.filter((event) => !isRepeatable(Date.parse(event.timestamp)))
		.map((event) => {
			const changes = groupSize > 1 || restores.length > 0 ? [] : changesOf(played, node, event);
			return { id: event.id, times: [...rowsOf(played, node, event), ...changes].filter(isCounted).length };
		});
	const copies = publications.filter(({ begins }, i) => begins.stage !== undefined && isNewBeginning(publications, i));
	const entryRows = groupSize > 1 || restores.length > 0 || losses.length > 0 ? [] : entries(played, node).filter(isCounted);
	// What was committed late, at the instant of the newest event before the publish, may be returned again.
	const again = [...new Set(entryRows.map(({ ids }) => ids[0]!))].filter((id) => !service.late.has(id)).map((id) => ({
		id,
		times: entryRows.filter(({ ids }) => ids[0] === id).length + 1 - copies.length,
	}));
	const repeated = [...doubled, ...again].filter(({ times }) => times > 1);
	const times = repeated.reduce((sum, repetition) => sum + repetition.times - 1, 0);
	// Executions that were in progress at a kill, or had just ended.
	if (isStartedAgain && times <= kills.length * 2 * groupSize) return [];
	return repeated.map(({ id }) => `${node}: ${id} was started twice`);
}

/** Executions with records that are new to the copy. */
const entries = ({ n8n }: Played, node: string): ModelExecution[] =>
	n8n.allRows.filter((row) => row.node === node && row.items.some(({ change }) => change === 'existing' || change === 'created'));

function unchosenOf(played: Played, node: string): string[] {
	const { service, choices, losses, kills, restores, history } = played;
	const publications = choices.filter((publication) => publication.node === node);
	// A replica that has not been restored yet hides the restore from the trigger.
	const isHidden = restores.length > 0 && history.steps.some(({ does }) => does === 'lag');
	// With the position, the earlier choices are lost.
	const isForgotten = (at: number) => losses.some((loss) => kills.some((kill) => kill >= loss && kill >= at - 30_000));
	return service.all
		.filter((event) => isNeverWanted(publications, event) && rowsOf(played, node, event).length > 0)
		.filter(({ timestamp }) => !isHidden && !isForgotten(Date.parse(timestamp)))
		.map(({ id }) => `${node}: ${id} was started, and nobody had chosen it`);
}

function falseAlarmsOf(played: Played, node: string): string[] {
	const { n8n, restores, losses } = played;
	const reports = n8n.reports.filter((report) => report.node === node);
	return [
		...reports.filter(({ message, at }) => /may be missing|no longer has/.test(message) && Math.min(...restores, ...losses) > at),
		...reports.filter((report) => isUntrue(played, report)),
	].map(({ message }) => `${node}: a false alarm: ${message}`);
}

/** Whether a report denies an execution, or says that n8n has stopped during one that had long succeeded. */
function isUntrue({ n8n, kills, losses, choices, setBack, history }: Played, { node, message, at }: PollModelN8n['reports'][0]): boolean {
	// A restored service may have assigned the same ID to another event.
	if (history.steps.some((step) => step.does === 'restore' && step.givesAgain)) return false;
	const publications = choices.filter((publication) => publication.node === node);
	const beginnings = publications.flatMap(({ from }, i) => (isNewBeginning(publications, i) ? [from] : []));
	// Each beginning reads all records again.
	const since = message.includes('no longer lists') ? Math.max(...[...beginnings, ...losses].filter((beginning) => beginning <= at)) : 0;
	const rows = n8n.allRows.filter((row) =>
		row.node === node && row.started >= since && row.started < at && row.status !== 'new' && row.ids.some((id) => isSetAside(message, id)));
	if (message.includes('started no execution')) return rows.length > 0;
	const isSetBack = setBack.length > 0 || history.nodes > 1 || history.steps.some(({ does }) => does === 'databaseAway');
	const hasStopped = rows.some((row) => kills.some((kill) => kill >= row.started && (row.status !== 'success' || kill - row.at < 60_000)));
	return message.includes('n8n stopped') && rows.some(({ status }) => status === 'success') && !hasStopped && !isSetBack;
}

const rowsOf = ({ n8n }: Played, node: string, event: CrmEvent) =>
	n8n.allRows.filter((row) => row.node === node && row.items.some(({ id, timestamp }) => id === event.id && timestamp === event.timestamp));

/** Executions for the change that an event reports, started while records were chosen. */
function changesOf({ n8n, choices }: Played, node: string, { id, timestamp, data }: CrmEvent): ModelExecution[] {
	const isGrouped = choices.some((publication) => publication.node === node && publication.settings.groupSize > 1);
	const isChange = ({ id: record, change }: ModelExecution['items'][0]) =>
		record === data.object.id && change !== undefined && change !== 'existing';
	return n8n.allRows
		.filter((row) => row.node === node && row.items.some(isChange) && row.started >= Date.parse(timestamp))
		.filter(({ key }) => isGrouped || key.includes(`events:${id}:`));
}
