import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { oncePerConnection } from '../api/connection';
import { collectionName, encodedPath } from '../api/http/path';
import { findRecord } from '../api/record';
import { listed } from '../base/lists';
import { ownMember } from '../base/ownMembers';
import { lookUpNames } from '../lookUp/byName';
import { mayBeId } from '../lookUp/names';
import { partsIn } from '../lookUp/parts';
import type { MissingTargets, NodeRun, Write } from '../model';
import { foldedText } from '../values/foldedText';
import { parseText } from '../values/parsers';
import { numbersOfCreation, RecordCreator, stageNamed, valuesNamed } from '../writing/recordCreator';
import { sendAlone } from '../writing/sendAlone';
import { protectVersions, versionOf } from '../writing/versions';

/** Creates what rows and columns of files name and the CRM lacks, as the user has chosen in *Create What Is Missing*. */
export class ImportCreator extends RecordCreator implements MissingTargets {
	/** As stored: `companies`, `customFields`. */
	private readonly choices: readonly string[] = chosenToCreate(this.run.n8n);
	private readonly ownerId: unknown;
	/** The records that rows name and that are not created: `companies`. */
	private readonly missingNouns = new Set<string>();

	/** @param ownerId of the user who stands for unknown ones */
	constructor(run: NodeRun, isPreview: boolean, ownerId: unknown) {
		super(run, isPreview);
		this.ownerId = ownerId;
	}

	creates(choice: string): boolean {
		return this.choices.includes(choice);
	}

	/**
	 * @returns the ID of the new record, or of the user who stands for unknown ones; undefined refuses the name
	 * @throws Error why a text is not taken for a name
	 */
	addRecord: NonNullable<MissingTargets['addRecord']> = async (collection, text, isWritten) => {
		const nouns = collectionName(collection);
		if (nouns === 'users') {
			this.missingNouns.add(nouns);
			return this.ownerId;
		}
		if (!valuesNamed(nouns, text)) return undefined;
		// The record that an ID of another system means is in none of the files, or was refused.
		const isId = nouns !== 'tags' && mayBeId(text) && /\d/.test(text);
		if (!this.creates(nouns)) {
			if (!isId) this.missingNouns.add(nouns);
			return undefined;
		}
		if (isId) throw new Error(`it may be an ID. If it is a name, enter ${text} → name:${text} in Values In → Value Map.`);
		return await this.create(collection, text, isWritten);
	};

	/** Adds a stage to a pipeline. */
	addPart: NonNullable<MissingTargets['addPart']> = async (collection, name, pipeline) => {
		if (collection !== '/pipelines') return undefined;
		const stage = stageNamed(name);
		const title = `${pipeline.name}: ${name} (${stage.kind})`;
		const { run, isPreview } = this;
		if (isPreview) {
			this.add('stages', title);
			return { name, id: name };
		}
		const id = String(pipeline.id);
		const path = collection + encodedPath`/${id}`;
		const update = (await run.api.describe(collection))?.update;
		const record = await findRecord(run.api, path);
		if (!update || !Array.isArray(record?.stages)) return undefined;
		const stageIn = (of: IDataObject) => partsIn(of, 'stages').find((part) => foldedText(part.name) === foldedText(name));
		const added = stageIn(record);
		if (added) return added.isUnique ? added : undefined;
		const body = { stages: [...(record.stages as IDataObject[]), stage] };
		protectVersions(run, update, [record]);
		const write: Write = { collection, id, path, body, version: versionOf(record) };
		const written = await sendAlone(run, update, write, numbersOfCreation('stage', `${id} ${foldedText(name)}`));
		this.add('stages', title);
		return stageIn(written.record);
	};

	/** Which options would create the records that do not exist, or replace them. */
	get advice(): Array<string | false> {
		const choices = listed([...this.missingNouns].flatMap((nouns) => ownMember(creatable, nouns) ?? []));
		const lacksOwner = this.missingNouns.has('users') && this.ownerId === undefined;
		return [
			choices !== '' && `Some of the named ${choices.toLowerCase()} do not exist: to create them, choose Create What Is Missing → ${choices}.`,
			lacksOwner && 'Some owners are no users of the CRM: enter in Owner for the Others the email of the user who gets their records.',
		];
	}
}

export const chosenToCreate = (n8n: IExecuteFunctions): string[] => n8n.getNodeParameter('options.createMissing', 0, []) as string[];

/** The choices of *Create What Is Missing* for records. */
const creatable: Record<string, string> = { companies: 'Companies', pipelines: 'Pipelines and Stages', tags: 'Tags' };

/** The user of a name, once for all files. */
const userCalled = oncePerConnection(async (api, text: string) => (await lookUpNames(api, '/users', [text])).get(text));

/** The ID of the user in *Owner for the Others*. @throws Error in the user's words if there is none or several */
export async function otherOwner({ n8n, api }: NodeRun): Promise<unknown> {
	const text = parseText('Owner for the Others', n8n.getNodeParameter('options.otherOwner', 0, ''), { otherwise: '' }).trim();
	if (text === '') return undefined;
	const result = await userCalled(api, text);
	if (result && 'found' in result) return result.found;
	throw new Error(`Owner for the Others: no single user is “${text}”. Enter the email of a user. Nothing was written.`);
}
