import { matchesEventPattern, type CrmEvent } from '../../../../nodes/CrmPlatform/log/crmEvent';
import type { Begins } from './poll-histories.ts';
import type { Publication } from './played.ts';
import { recordTypes } from './records.ts';

/** Milliseconds around a publish in which either choice may count. */
export const slack = 30_000;

const startOf = ({ start, stage }: Begins): string => (stage === undefined ? start : 'records');

/** Whether a publication begins elsewhere than the one before. */
export const isNewBeginning = (publications: Publication[], i: number): boolean =>
	i === 0 || startOf(publications[i]!.begins) !== startOf(publications[i - 1]!.begins);

export const matches = ({ types, begins }: Publication, { type }: CrmEvent): boolean =>
	(begins.stage === undefined ? types : recordTypes).some((pattern) => matchesEventPattern(pattern, type));

/** Whether a publication begins at a date before an event. */
const covers = ({ begins: { since } }: Publication, at: number): boolean => since !== '' && at >= Date.parse(since);

/** Publications in effect when an event happened, or shortly before or after. */
function atTheTime(publications: Publication[], at: number): Publication[] {
	return publications.filter(({ from }, i) => at >= from - slack && at <= (publications[i + 1]?.to ?? Infinity) + slack);
}

/**
 * Whether an event must start the workflow: by the choice at its time, or by that of the last beginning after it.
 * An event that happened while records were chosen must start it only if the trigger begins at a date.
 */
export function isWanted(publications: Publication[], event: CrmEvent): boolean {
	const at = Date.parse(event.timestamp);
	const then = atTheTime(publications, at);
	const isOfRecords = then.some(({ begins }) => begins.stage !== undefined);
	// A date may be in the future.
	const since =
		publications.filter((publication, i) => isNewBeginning(publications, i) && publication.from <= at + slack).at(-1)?.begins.since ?? '';
	if (at < Date.parse(since)) return false;
	const last = publications.filter((publication, i) => isNewBeginning(publications, i) && publication.to + slack > at).at(-1);
	const isWantedThen = then.every((publication) => matches(publication, event));
	if (!last) return isWantedThen && !isOfRecords;
	return covers(last, at) && matches(last, event) && isWantedThen;
}

/** Whether nobody ever chose an event. */
export function isNeverWanted(publications: Publication[], event: CrmEvent): boolean {
	const at = Date.parse(event.timestamp);
	const covering = publications.filter((publication, i) => isNewBeginning(publications, i) && covers(publication, at));
	return ![...atTheTime(publications, at), ...covering].some((publication) => matches(publication, event));
}
