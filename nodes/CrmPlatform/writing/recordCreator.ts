import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { linksOf } from '../api/openapi/linkFields';
import { collectionName, encodedPath, type Collection } from '../api/http/path';
import { findRecord } from '../api/record';
import { getOrCreate } from '../base/maps';
import { lookUpNames } from '../lookUp/byName';
import { mayBeId, parseName } from '../lookUp/names';
import { partsIn, readPartsOnce } from '../lookUp/parts';
import { isCreated, storedParameter } from '../mapping/locator';
import type { NodeRun, MissingTargets, Write } from '../model';
import { parseText } from '../values/parsers';
import { listed } from '../base/lists';
import { foldedText, normalizedName } from '../values/foldedText';
import { keyDigest } from '../base/digest';
import { sendAlone } from './sendAlone';
import { versionOf } from './versions';

interface Creation {
	run: NodeRun;
	/** What is created, as the choices of *Create What Is Missing* are stored: `companies`, `customFields`. */
	chosen: readonly string[];
	isPreview: boolean;
	/** Whether texts come from a file, where they may be IDs of another system. */
	isImport?: true;
	/** The user who stands for unknown ones. */
	ownerId?: unknown;
}

type RecordsByName = Map<string, { name: unknown; id: Promise<unknown>; isCreated: boolean }>;

/** Creates the records that links name and that do not exist, each once; a preview only counts them. */
export class RecordCreator implements MissingTargets {
	/** By the nouns for them, such as `companies` or `stages`, and by name. */
	private readonly byName = new Map<string, RecordsByName>();
	/** The records that rows name and that are not created: `companies`. */
	private readonly unknown = new Set<string>();
	private readonly creation: Creation;

	private constructor(creation: Creation) {
		this.creation = creation;
	}

	/**
	 * Creates what the user has chosen in *Create What Is Missing*.
	 *
	 * @throws Error in the user's words if *Owner for the Others* is no user
	 */
	static async forImport(run: NodeRun, isPreview: boolean): Promise<RecordCreator> {
		const ownerId = await otherOwner(run);
		return new RecordCreator({ run, chosen: chosenToCreate(run.n8n), isPreview, isImport: true, ownerId });
	}

	/** Creates the records of the mode *By Name, Created If None* in *Linked Records*; undefined if no row has that mode. */
	static async forLinkedRecords(run: NodeRun, isPreview: boolean): Promise<RecordCreator | undefined> {
		const rows = storedParameter(run.n8n, 'fieldsLinked.records', []) as Array<{ field?: unknown; record?: unknown }>;
		const names = rows.flatMap(({ field, record }) => (isCreated(record) ? [field] : []));
		const description = names.length > 0 ? await run.api.describe(run.resource.path) : undefined;
		const fields = (description && run.operation.describedWrite?.(description)?.fields) ?? [];
		const chosen = linksOf(fields).flatMap(({ name, collection }) => (names.includes(name) ? [collectionName(collection)] : []));
		return chosen.length === 0 ? undefined : new RecordCreator({ run, chosen, isPreview });
	}

	/**
	 * @returns the ID of the new record, or of the user who stands for unknown ones; undefined refuses the name
	 * @throws Error why a text is not taken for a name
	 */
	addRecord: NonNullable<MissingTargets['addRecord']> = async (collection, text) => {
		const nouns = collectionName(collection);
		const { run, isPreview, isImport, ownerId } = this.creation;
		if (nouns === 'users') {
			this.unknown.add(nouns);
			return ownerId;
		}
		const values = valuesNamed(nouns, text);
		if (!values) return undefined;
		// The record that an ID of another system means is in none of the files, or was refused.
		const isId = isImport && nouns !== 'tags' && mayBeId(text) && /\d/.test(text);
		if (!this.creates(nouns)) {
			if (!isId) this.unknown.add(nouns);
			return undefined;
		}
		if (isId) throw new Error(`it may be an ID. If it is a name, enter ${text} → name:${text} in Values In → Value Map.`);
		const records = getOrCreate(this.byName, nouns, (): RecordsByName => new Map());
		const key = normalizedName(values.name);
		const create = async () => {
			const record = isPreview ? asCreated(values, text) : await createNamed(run, collection, values, key);
			if (record && values.stages) (await readPartsOnce(run.api, collection, 'stages')).push(...partsIn(record, 'stages'));
			return record?.id;
		};
		const created = getOrCreate(records, key, () => ({ name: values.name, id: create(), isCreated: false }));
		const id = await created.id;
		created.isCreated = id !== undefined;
		return id;
	};

	/** Adds a stage to a pipeline. */
	addPart: NonNullable<MissingTargets['addPart']> = async (collection, name, pipeline) => {
		if (collection !== '/pipelines' || !this.creates('pipelines')) return undefined;
		const { run, isPreview } = this.creation;
		const { kind } = stageNamed(name);
		const stage = `${pipeline.name}: ${name} (${kind})`;
		if (isPreview) {
			this.add('stages', stage);
			return { name, id: name };
		}
		const id = String(pipeline.id);
		const path = collection + encodedPath`/${id}`;
		const update = (await run.api.describe(collection))?.update;
		const record = await findRecord(run.api, path);
		if (!update || !Array.isArray(record?.stages)) return undefined;
		const body = { stages: [...(record.stages as IDataObject[]), stageNamed(name)] };
		const write: Write = { collection, id, path, body, version: versionOf(record) };
		const written = await sendAlone(run, update, write, numbersOfCreation('stage', `${id} ${foldedText(name)}`));
		this.add('stages', stage);
		return partsIn(written.record, 'stages').find((part) => foldedText(part.name) === foldedText(name));
	};

	creates = (choice: string): boolean => this.creation.chosen.includes(choice);

	/** Adds something else that is created, or would be, to the summary. */
	add(nouns: string, name: string): void {
		getOrCreate(this.byName, nouns, () => new Map()).set(foldedText(name), { name, id: Promise.resolve(), isCreated: true });
	}

	/** Which options would create the records that do not exist, or replace them. */
	get advice(): string[] {
		const lines: string[] = [];
		const choices = listed([...this.unknown].flatMap((nouns) => creatable[nouns] ?? []));
		const create = `to create them, choose Create What Is Missing → ${choices}.`;
		if (choices !== '') lines.push(`Some of the named ${choices.toLowerCase()} do not exist: ${create}`);
		const lacksOwner = this.unknown.has('users') && this.creation.ownerId === undefined;
		if (lacksOwner) lines.push('Some owners are no users of the CRM: enter in Owner for the Others the email of the user who gets their records.');
		return lines;
	}

	/** For the output: what was created, or would be. */
	get summary(): IDataObject[] {
		return [...this.byName].flatMap(([records, all]) => {
			const names = [...all.values()].filter(({ isCreated }) => isCreated).map(({ name }) => name as string);
			return names.length === 0 ? [] : [{ records, count: names.length, names: names.slice(0, namesShown) }];
		});
	}
}

export const chosenToCreate = (n8n: IExecuteFunctions): string[] => n8n.getNodeParameter('options.createMissing', 0, []) as string[];

/** The choices of *Create What Is Missing* for records. */
const creatable: Record<string, string | undefined> = { companies: 'Companies', pipelines: 'Pipelines and Stages', tags: 'Tags' };

const namesShown = 50;

interface NamedValues extends IDataObject {
	name: string;
	stages?: ReturnType<typeof stageNamed>[];
}

/** The values of the record that a text names; undefined if the text may be something else. */
function valuesNamed(nouns: string, text: string): NamedValues | undefined {
	const { field = 'name', name } = parseName(text);
	if (!['name', 'domain'].includes(field) || /[;|@]|:\/\//.test(name)) return undefined;
	if (nouns === 'pipelines') return { name, stages: ['New', 'Won', 'Lost'].map(stageNamed) };
	const isDomain = nouns === 'companies' && (field === 'domain' || /^[a-z\d-]+(\.[a-z\d-]+)*\.[a-z]{2,}$/.test(name));
	return { name, ...(isDomain && { domain: name.toLowerCase() }) };
}

/** The record that a preview assumes: texts stand for its ID, and those of its stages. */
const asCreated = ({ stages, ...values }: NamedValues, id: string): IDataObject =>
	({ ...values, id, ...(stages && { stages: stages.map((stage) => ({ ...stage, id: stage.name })) }) });

/** A new stage, whose name says whether its deals are won or lost; otherwise, they are open. */
function stageNamed(name: string): { name: string; kind: string } {
	const isWon = /\bwon\b|gewonnen|ganad[oa]|gagn[ée]|vint[oa]/i.test(name);
	const isLost = /\blost\b|verloren|perdid[oa]|perdu|pers[oa]/i.test(name);
	return { name, kind: isWon === isLost ? 'open' : isWon ? 'won' : 'lost' };
}

/** What the key of a write has in place of its items if it creates what several of them name: no item has these numbers. */
export const numbersOfCreation = (of: 'record' | 'field' | 'stage', text: string): number[] =>
	[0, { record: -1, field: -2, stage: -3 }[of], keyDigest(text)];

/** Creates a record that has only a name. @param key of the name, under which a repeated attempt does not create it again */
async function createNamed(run: NodeRun, collection: Collection, values: NamedValues, key: string) {
	const description = (await run.api.describe(collection))?.create;
	if (!description?.fields.some(({ name }) => name === 'name')) return undefined;
	const numbers = numbersOfCreation('record', `${collectionName(collection)} ${key}`);
	return (await sendAlone(run, description, { collection, path: collection, body: values }, numbers)).record;
}

/** The user in *Owner for the Others*. @throws Error in the user's words if there is none or several */
async function otherOwner({ n8n, api }: NodeRun): Promise<unknown> {
	const text = parseText('Owner for the Others', n8n.getNodeParameter('options.otherOwner', 0, ''), { otherwise: '' }).trim();
	if (text === '') return undefined;
	const result = (await lookUpNames(api, '/users', [text])).get(text);
	if (result && 'found' in result) return result.found;
	throw new Error(`Owner for the Others: no single user is “${text}”. Enter the email of a user. Nothing was written.`);
}
