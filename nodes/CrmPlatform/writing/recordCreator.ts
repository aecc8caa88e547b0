import type { IDataObject } from 'n8n-workflow';

import { collectionName, encodedPath, type Collection } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { findRecord } from '../api/record';
import { isCertainlyUnwritten } from '../api/refusals';
import { getOrCreate } from '../base/maps';
import { parseName } from '../lookUp/names';
import { partsIn, readPartsOnce } from '../lookUp/parts';
import { mayCreate, storedParameter } from '../mapping/locator';
import type { NodeRun } from '../model';
import { foldedText, normalizedName, unaccentedText } from '../values/foldedText';
import { forSeveral, hasWriteOncePer, sendAlone, takesKeys } from './sendAlone';

/**
 * The mode *By Name, Created If None* of *Linked Records*.
 *
 * @returns what creates the records of links in that mode; nothing if there are none
 */
export function linkedRecordsToAdd({ n8n }: NodeRun, creator: RecordCreator): Pick<NodeRun, 'onMissingLink'> {
	const rows = storedParameter(n8n, 'fieldsLinked.records', []) as Array<{ record?: unknown }>;
	if (!rows.some(({ record }) => mayCreate(record))) return {};
	const partsOfNew = (collection: Collection, text: string) => valuesNamed(collectionName(collection), text)?.stages?.map(({ name }) => name) ?? [];
	return { onMissingLink: { addRecord: async (...named) => await creator.create(...named), partsOfNew } };
}

interface NewRecord {
	name: string;
	id: Promise<unknown>;
	isCreated: boolean;
}

/** Creates records that have only a name, each once; a preview only counts them. */
export class RecordCreator {
	/** By the nouns for them, such as `companies` or `stages`, and by name. */
	private readonly byName = new Map<string, Map<string, NewRecord>>();
	protected readonly run: NodeRun;
	protected readonly isPreview: boolean;

	constructor(run: NodeRun, isPreview: boolean) {
		this.run = run;
		this.isPreview = isPreview;
	}

	/** @returns as `addRecord`: undefined if the text may be something else */
	async create(collection: Collection, text: string, isWritten: boolean): Promise<unknown> {
		const nouns = collectionName(collection);
		const description = (await this.run.api.describe(collection))?.create;
		// Nobody becomes a user by being named.
		if (nouns === 'users' || !description?.fields.some(({ name }) => name === 'name')) return undefined;
		const values = valuesNamed(nouns, text);
		if (!values || !isWritten) return values && text;
		const { name } = values;
		const records = getOrCreate(this.byName, nouns, () => new Map<string, NewRecord>());
		const newRecord = () => ({ name, id: this.newId(description, collection, values, text), isCreated: false });
		const created = getOrCreate(records, identityOf(values), newRecord);
		const id = await created.id;
		created.isCreated = id !== undefined;
		return id;
	}

	private async newId(description: WriteDescription, collection: Collection, values: NamedValues, text: string): Promise<unknown> {
		const { run, isPreview } = this;
		const record = isPreview ? asCreated(values, text) : await createNamed(run, description, collection, values).catch((error: Error) => {
			// Later rows may try again, unless that could create a second record.
			if (isCertainlyUnwritten(error) || takesKeys(run, description.idempotencyHeader)) {
				this.byName.get(collectionName(collection))?.delete(identityOf(values));
			}
			throw error;
		});
		if (record && values.stages) (await readPartsOnce(run.api, collection, 'stages')).push(...partsIn(record, 'stages'));
		return record?.id;
	}

	/** Adds something else that is created, or would be, to the summary. */
	add(nouns: string, name: string): void {
		getOrCreate(this.byName, nouns, () => new Map()).set(foldedText(name), { name, id: Promise.resolve(), isCreated: true });
	}

	/** For the output: what was created, or would be. */
	get summary(): IDataObject[] {
		return [...this.byName].flatMap(([records, all]) => {
			const names = [...all.values()].filter(({ isCreated }) => isCreated).map(({ name }) => name);
			return names.length === 0 ? [] : [{ records, count: names.length, names: names.slice(0, namesShown) }];
		});
	}
}

const namesShown = 50;

interface NamedValues extends IDataObject {
	name: string;
	domain?: string;
	stages?: ReturnType<typeof stageNamed>[];
}

/** What two texts for one record have in common: an accent makes another domain. */
const identityOf = ({ name, domain }: NamedValues): string => (domain === undefined ? normalizedName(name) : foldedText(domain));

/** The values of the record that a text names; undefined if the text may be something else. */
export function valuesNamed(nouns: string, text: string): NamedValues | undefined {
	const { field = 'name', name } = parseName(text);
	if (!['name', 'domain'].includes(field) || /[;|@]|:\/\//.test(name)) return undefined;
	if (nouns === 'pipelines') return { name, stages: ['New', 'Won', 'Lost'].map(stageNamed) };
	const isDomain = nouns === 'companies' && (field === 'domain' || isCertainDomain(name));
	return { name, ...(isDomain && { domain: name.toLowerCase() }) };
}

/** The record that a preview assumes: texts stand for its ID, and those of its stages. */
const asCreated = ({ stages, ...values }: NamedValues, id: string): IDataObject =>
	({ ...values, id, ...(stages && { stages: stages.map((stage) => ({ ...stage, id: stage.name })) }) });

const generic = new Set(['com', 'net', 'org', 'info', 'biz', 'eu', 'example']);
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** Whether a name is certainly a domain: `v1.beta` and `node.js` end in neither a usual word nor the code of a country. */
function isCertainDomain(name: string): boolean {
	const ending = /^[a-z\d-]+(?:\.[a-z\d-]+)*\.([a-z]{2,})$/.exec(name)?.[1] ?? '';
	return generic.has(ending) || (ending.length === 2 && regions.of(ending.toUpperCase()) !== undefined);
}

/** The words for how deals ended, and those that are added to them. A name with any other, such as “Not won yet”, may mean anything. */
const endings = {
	won: /^(won|gewonnen|ganad[oa]|gagnee?|vint[oa])$/,
	lost: /^(lost|verloren|perdid[oa]|perdue?|pers[oa])$/,
	added: /^(closed|deals?|(ab)?geschlossen|cerrad[oa]|fermee?|chius[oa]|and|und|y|et|e)?$/,
};

/** A new stage, whose name says whether its deals are won or lost; otherwise, they are open. */
export function stageNamed(name: string): { name: string; kind: string } {
	const words = unaccentedText(name).split(/[\s\d.:,/|&()–—-]+/).filter((word) => !endings.added.test(word));
	const kind = (['won', 'lost'] as const).find((ending) => words.length > 0 && words.every((word) => endings[ending].test(word)));
	return { name, kind: kind ?? 'open' };
}

/** Creates a record that has only a name, under a key by which a repeated attempt does not create it again. */
async function createNamed(run: NodeRun, description: WriteDescription, collection: Collection, values: NamedValues) {
	const send = async (of: 'record' | 'recordAgain') => {
		const keyParts = forSeveral(of, `${collectionName(collection)} ${identityOf(values)}`);
		return await sendAlone(run, description, { collection, path: collection, body: values }, keyParts);
	};
	const { record, isReplayed } = await send('record');
	// With Write Once Per, another execution may have created it, and somebody may have deleted it since.
	const isFromAnother = isReplayed === true && hasWriteOncePer(run);
	const isGone = isFromAnother && (await findRecord(run.api, collection + encodedPath`/${String(record.id)}`)) === undefined;
	return isGone ? (await send('recordAgain')).record : record;
}
