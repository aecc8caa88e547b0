import type { IDataObject } from 'n8n-workflow';

import { isExcused, isSetAside } from './excuses.ts';
import { counts, type Played, type Publication } from './played.ts';
import { isNewBeginning, slack } from './wanted.ts';

/** Unreported differences between the service's records and a copy that is kept as docs/reference/triggers.md says. */
export function copyBroken(played: Played, node: string): string[] {
	const { service, n8n, restores } = played;
	const publications = played.choices.filter((publication) => publication.node === node);
	const beginning = publications.findLastIndex((_, i) => isNewBeginning(publications, i));
	const { stage } = publications.at(-1)!.begins;
	if (stage === undefined) return [];
	const begun = publications[beginning]!;
	const copy = new Map<string, IDataObject>();
	for (const row of n8n.allRows) {
		if (row.node !== node || !counts(publications, row)) continue;
		for (const { change, ...record } of row.items) {
			// The deletion of a record that an earlier beginning has output is not reported.
			if (row.started < begun.from && !service.records.has(String(record.id))) continue;
			if (change === 'deleted') copy.delete(String(record.id));
			else if (change !== undefined) copy.set(String(record.id), record);
		}
	}
	const settled = Math.max(lastScope(publications.slice(beginning)), ...restores.map((at) => at + slack));
	const mustBeEqual = (id: string): boolean => {
		const events = service.all.filter(({ data }) => data.object.id === id);
		const last = events.at(-1)!;
		if (!service.has(last) || Date.parse(last.timestamp) < settled) return false;
		const isReported = n8n.reports.some((report) => report.node === node && isSetAside(report.message, id));
		return !isReported && !events.some((event) => isExcused(played, node, event));
	};
	const ids = [...new Set([...service.records.keys(), ...copy.keys()])];
	return ids.filter(mustBeEqual).flatMap((id) => {
		const record = service.records.get(id);
		const inScope = record && (stage === '' || record.stage === stage) ? record : undefined;
		// A record outside the last scope when that was chosen is not reported.
		if (!inScope && lastScope(publications.slice(beginning)) > 0) return [];
		const [is, should] = [copy.get(id), inScope].map((value) => JSON.stringify(value));
		return is === should ? [] : [`${node}: the copy of ${id} is ${is}, and should be ${should}`];
	});
}

/** When the last scope took effect (Unix epoch ms); -Infinity if the scope never changed. */
function lastScope(publications: Publication[]): number {
	const changed = publications.findLastIndex(({ begins }, i) => i > 0 && begins.stage !== publications[i - 1]!.begins.stage);
	return changed < 0 ? -Infinity : publications[changed]!.to + slack;
}
