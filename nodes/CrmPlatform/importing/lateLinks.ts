import type { Collection } from '../api/http/path';
import type { Link } from '../api/openapi/linkFields';
import type { FileRecords } from '../files/rows';
import { meaningText } from '../mapping/fieldNames';
import { isBlank } from '../values/blank';
import type { ExpectedRecords } from './expectedRecords';
import { importSettings, type ColumnPlan, type ImportPlan } from './importPlan';
import { importRows } from './importRows';
import { openFile, type ImportedFile, type PlannedFile } from './relatedFiles';

/** Orders files so that linked records are written first; links for which that is impossible wait until all are written. */
export function inOrderOfLinks(files: PlannedFile[]): PlannedFile[] {
	const ordered: PlannedFile[] = [];
	let unordered = files;
	while (unordered.length > 0) {
		const waiting = new Set(unordered.map(({ plan }) => plan.path));
		const isReady = ({ plan: { path }, links }: PlannedFile) =>
			links.every(({ collection }) => collection === path || !waiting.has(collection));
		// Of a circle, one to which others link: they may need their links at once.
		const isLinked = ({ plan: { path } }: PlannedFile) =>
			unordered.some(({ plan, links }) => plan.path !== path && links.some(({ collection }) => collection === path));
		const { path: next } = (unordered.find(isReady) ?? unordered.find(isLinked) ?? unordered[0]!).plan;
		for (const file of unordered.filter(({ plan }) => plan.path === next)) {
			ordered.push({ ...file, plan: { ...file.plan, ...withoutLateLinks(file.plan.columns, file.links, waiting) } });
		}
		unordered = unordered.filter(({ plan }) => plan.path !== next);
	}
	return ordered;
}

/** Where the columns of a file go, except for links to records of the waiting collections. */
function withoutLateLinks(columns: ColumnPlan, links: Link[], waiting: ReadonlySet<Collection>): Pick<ImportPlan, 'columns' | 'lateLinks'> {
	// A record without a required link could not be created.
	const late = new Set(links.flatMap(({ field, collection }) => (!field.required && waiting.has(collection) ? [field.name] : [])));
	const filled = columns.all.filter((column) => column.filled > 0);
	const lateLinks = filled.flatMap(({ name, meaning = '' }): ImportPlan['lateLinks'] =>
		(late.has(meaningText(meaning)) ? [[meaningText(meaning), name]] : []));
	const lateColumns = new Set(lateLinks.map(([, column]) => column));
	const renamed = columns.renamed.filter(([, column]) => !lateColumns.has(column));
	return { columns: { ...columns, renamed, unassigned: new Set([...(columns.unassigned ?? []), ...lateColumns]) }, lateLinks };
}

/**
 * Writes the late links of a file into the records that were written.
 *
 * @param fileNumbers distinguishes its jobs from those that wrote the records
 * @returns the file with their results
 * @throws as `importRows`
 */
export async function importLateLinks(file: ImportedFile, fileNumbers: number[], expected: ExpectedRecords): Promise<ImportedFile> {
	const { run, plan: { lateLinks, creator }, ids } = file;
	if (lateLinks.length === 0) return file;
	const plan: ImportPlan = {
		...(await importSettings(run, file.plan, { operation: 'update', matchOn: undefined, creator })),
		columns: { renamed: lateLinks, unassigned: undefined, all: [] },
		fileNumbers,
		lateLinks: [],
		writtenIds: ids,
	};
	const opened = await openFile(run.n8n, file);
	const { json, files } = await importRows(run, plan, { ...opened, rows: linkedRows(opened.rows, plan, ids) }, expected);
	const { rows, failed, unknown = 0, left_out, reasons } = json;
	return { ...file, json: { ...file.json, links: { rows, failed, unknown, left_out, reasons } }, files: { ...file.files, ...files } };
}

/** The rows of a file that have late links, or cells that clear them, and whose records were written. */
async function* linkedRows(rows: FileRecords['rows'], { columns, clearsEmpty }: ImportPlan, ids: ImportedFile['ids']): FileRecords['rows'] {
	for await (const read of rows) {
		yield read.filter(({ row, content = {} }) => {
			const changes = (column: string) => (clearsEmpty ? Object.hasOwn(content, column) : !isBlank(content[column]));
			return ids.has(row) && columns.renamed.some(([, column]) => changes(column));
		});
	}
}
