import type { IDataObject } from 'n8n-workflow';

import { isExcused, isSetAside } from './excuses.ts';
import { counts, type Played, type Publication } from './played.ts';
import { isAnew, slack } from './wanted.ts';

/** Where a copy that is kept as the page says differs from the records of the service, untold. */
export function copyBroken(played: Played, node: string): string[] {
	const { service, n8n, restores } = played;
	const publications = played.choices.filter((publication) => publication.node === node);
	const beginning = publications.findLastIndex((_, i) => isAnew(publications, i));
	const { stage } = publications.at(-1)!.begins;
	if (stage === undefined) return [];
	const begun = publications[beginning]!;
	const copy = new Map<string, IDataObject>();
	for (const row of n8n.allRows) {
		// Records that are chosen again come again only if something has happened since.
		if (row.node !== node || !counts(publications, row)) continue;
		for (const { change, ...record } of row.items) {
			// What an earlier beginning has given, and is gone since, is not told of.
			if (row.started < begun.from && !service.records.has(String(record.id))) continue;
			if (change === 'deleted') copy.delete(String(record.id));
			else if (change !== undefined) copy.set(String(record.id), record);
		}
	}
	const settled = Math.max(lastScope(publications.slice(beginning)), ...restores.map((at) => at + slack));
	const isToBeEqual = (id: string): boolean => {
		const its = service.all.filter(({ data }) => data.object.id === id);
		const last = its.at(-1)!;
		if (service.has(last) && Date.parse(last.timestamp) < settled) return false;
		if (!service.has(last)) return false;
		const isTold = n8n.reports.some((report) => report.node === node && isSetAside(report.message, id));
		return !isTold && !its.some((event) => isExcused(played, node, event));
	};
	const ids = [...new Set([...service.records.keys(), ...copy.keys()])];
	return ids.filter(isToBeEqual).flatMap((id) => {
		const record = service.records.get(id);
		const inScope = record && (stage === '' || record.stage === stage) ? record : undefined;
		// What was outside of the last scope when it was chosen is not told of.
		if (!inScope && lastScope(publications.slice(beginning)) > 0) return [];
		const [is, should] = [copy.get(id), inScope].map((value) => JSON.stringify(value));
		return is === should ? [] : [`${node}: the copy of ${id} is ${is}, and should be ${should}`];
	});
}

/** From when on the scope was the last one; the beginning of time if it never changed. */
function lastScope(publications: Publication[]): number {
	const changed = publications.findLastIndex(({ begins }, i) => i > 0 && begins.stage !== publications[i - 1]!.begins.stage);
	return changed < 0 ? -Infinity : publications[changed]!.to + slack;
}
