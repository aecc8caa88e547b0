import type { IDataObject } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { externalId } from '../fields/field';
import { ExpectedRecords, willExistIn } from '../importing/expectedRecords';
import { importRows } from '../importing/importRows';
import { openFile, planFiles, readFiles, type ImportedFile, type PlannedFile, importLateLinks, inOrderOfLinks, lateLinkSettings } from '../importing/relatedFiles';
import { chosenNotations } from '../mapping/chosenNotations';
import { refuseDiffering } from '../mapping/sameForAll';
import { ItemWithFiles, type NodeRun, type Operation, type OutputItem, type Resource, type Results } from '../model';
import { importOptions, relatedFilesProperties, settingsOfAllFiles } from '../parameters/fileParameters';
import { writeOncePerOption } from '../parameters/outputParameters';
import { parsePreview } from '../values/parsers';

/** Imports the files of another system: detects the record type of each, and writes them in the order of their links. */
export function importRelatedFiles(recordTypes: Resource[]): Operation {
	return {
		option: {
			name: 'Import Related Files',
			value: 'moveIn',
			action: 'Import related files',
			description: 'Move in from another system: files of several record types with their links',
		},

		properties: () => relatedFilesProperties(recordTypes),
		options: [...importOptions, writeOncePerOption],
		output: null,
		isForAllTypes: true,

		prepare: (run) => ({
			size: run.n8n.getInputData().length,
			atOnce: 1,
			handle: async () => await importRelated(run, recordTypes),
		}),
	};
}

async function importRelated(run: NodeRun, recordTypes: Resource[]): Promise<Results> {
	const { n8n } = run;
	// A wrong choice for all files makes none of them unreadable.
	const source = chosenNotations(n8n)?.source;
	if (source === undefined) throw new Error('Source Name is empty. Enter the system that the files come from, such as hubspot. Nothing was written.');
	refuseDiffering(n8n, [...relatedFilesProperties(recordTypes), ...settingsOfAllFiles]);
	const isPreview = parsePreview(n8n.getNodeParameter('preview', 0, true));
	const read = await readFiles(run, recordTypes);
	const unclear = read.find(({ type, isLeftOut }) => !type && !isLeftOut);
	if (unclear && !isPreview) throw new Error(`${unclear.name}: ${unclear.why} Nothing was written.`);

	const files = inOrderOfLinks(await planFiles(run, read));
	// Before records are written whose links could not be.
	for (const file of files) if (file.plan.lateLinks.length > 0) await lateLinkSettings(file);
	const expected: ExpectedByCollection = new Map(files.map(({ plan: { path }, links }) => [path, new ExpectedRecords(links)]));
	const onMissingLink = isPreview ? { willExist: willExistIn(expected, source) } : {};
	const imported: ImportedFile[] = [];
	for (const file of files) imported.push(await importRecords({ ...file, run: { ...file.run, onMissingLink } }, expected.get(file.plan.path)!));
	const linked: ImportedFile[] = [];
	for (const [index, file] of imported.entries()) {
		linked.push(await importLateLinks(file, [file.item, files.length + index], expected.get(file.plan.path)!));
	}

	const others = read.filter(({ type }) => !type);
	const all = [...linked, ...others.map(({ item, name, why }) => ({ item, json: { file: name, record_type: null, why }, files: {} }))];
	const results = n8n.getInputData().map((_, i) =>
		all.filter(({ item }) => item === i).map(({ json, files: reports }): OutputItem => new ItemWithFiles(json, reports)));
	if (!isPreview) results.at(-1)?.push({ comparison: await compareWithCrm(run, source, linked, expected) });
	return results;
}

/** What the files of each record type should lead to. */
type ExpectedByCollection = Map<Collection, ExpectedRecords>;

/** Imports a file, without its late links. */
async function importRecords(file: PlannedFile, expected: ExpectedRecords): Promise<ImportedFile> {
	const { run, plan, name, why } = file;
	const { json, ...result } = await importRows(run, plan, await openFile(run.n8n, file), expected);
	return { ...file, ...result, json: { file: name, record_type: run.resource.name, why, matched_on: plan.matchField?.name ?? null, ...json } };
}

/** Compares the rows of the files with IDs with the records in the CRM, by record type. */
async function compareWithCrm(run: NodeRun, source: string, imported: ImportedFile[], expected: ExpectedByCollection): Promise<IDataObject[]> {
	const compared = [...expected].map(async ([collection, records]): Promise<IDataObject[]> => {
		const files = imported.filter(({ plan }) => plan.path === collection && plan.matchField?.name === externalId.name);
		const [first] = files;
		const rows = files.reduce((sum, { plan, json }) => sum + Number(json.rows) - (plan.refusesRepeated ? Number(json.repeated) : 0), 0);
		if (!first) return [];
		const { name: type } = first.run.resource;
		// The files are written: without this comparison, their results must not be lost.
		const counts = await records.compare(run, collection, source, rows).catch((error: Error) => {
			run.api.notices.add(`${type}: the rows were not compared with the CRM. ${error.message}`);
			return { why: error.message };
		});
		return counts ? [{ record_type: type, files: files.map(({ name }) => name), ...counts }] : [];
	});
	return (await Promise.all(compared)).flat();
}
