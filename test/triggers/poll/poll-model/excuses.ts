import type { CrmEvent } from '../../../../nodes/CrmPlatform/log/crmEvent';
import type { Played } from './played.ts';
import { matches } from './wanted.ts';

interface Range {
	/** Sequences up to this one may be missing. */
	upTo: number;
	/** Or those before this instant. */
	before?: number;
	/** When it was reported. */
	at: number;
}

/** The events that a message says may be missing. */
function rangeIn({ message, at }: { message: string; at: number }): Range | undefined {
	const again = /Events up to sequence (\d+) that had not started/.exec(message);
	if (again) return { upTo: Number(again[1]), at };
	const over = /starts over.*after sequence (\d+)(?:, since (\S+Z))?/.exec(message);
	if (over) return { upTo: Number(over[1]), before: Date.parse(over[2] ?? ''), at };
	return undefined;
}

/** Whether a report names an event, or a range that includes it. */
export function isExcused({ n8n, choices, setBack }: Played, node: string, event: CrmEvent): boolean {
	const at = Date.parse(event.timestamp);
	// Whether an execution crashed before another beginning or after it, that position cannot tell.
	const isUntold = setBack.some(({ sequence, readBefore }) => event.sequence > sequence && event.sequence <= readBefore);
	const hasCrashed = n8n.allRows.some((row) => row.node === node && row.ids.includes(event.id) && row.status === 'crashed');
	if (isUntold && hasCrashed) return true;
	const reports = n8n.reports.filter((report) => report.node === node);
	// A date may be in the future.
	if (reports.some((report) => at < (rangeIn(report)?.before ?? 0))) return true;
	const laterReports = reports.filter((report) => report.at >= at);
	return laterReports.some((report) => {
		if ([event.id, String(event.data.object.id)].some((id) => isSetAside(report.message, id))) return true;
		const last = choices.findLast((publication) => publication.node === node && publication.from <= report.at)!;
		if (/only an earlier choice of events includes/.test(report.message) && !matches(last, event)) return true;
		const range = rangeIn(report);
		if (!range) return false;
		const hadFailed = n8n.allRows.some((row) => row.node === node && row.ids.includes(event.id) && row.started <= range.at);
		return event.sequence <= range.upTo || hadFailed;
	});
}

/** Whether a message names an event or record as set aside. */
export const isSetAside = (message: string, id: string): boolean =>
	message.includes('set aside') && new RegExp(`\\b${id}\\b`).test(message);
