import type { IDataObject } from 'n8n-workflow';

import { upsertOutcomeField } from '../api/record';
import { ownMember, setMember } from '../base/ownMembers';
import { allCustomFields } from '../fields/field';
import type { NodeRun, Write, WrittenOutput } from '../model';
import { simplify, summaryFields } from '../reading/simplify';
import type { Written } from './sendAlone';

/** The whole record, or the fields of a simplified one, as the user chose. */
export async function chosenOutput({ n8n, api, resource }: NodeRun): Promise<WrittenOutput> {
	const { fields = [], summary = [] } = (await api.describe(resource.path)) ?? {};
	const simpleFields = summaryFields(n8n, summary);
	return simpleFields ? { simplified: { fields: simpleFields, readNames: new Set(fields.map(({ name }) => name)) } } : {};
}

/**
 * What an item outputs of its written record. A simplified record also has the written values, and members that reading does
 * not return: a secret shown once, the outcome of an upsert.
 */
export function outputOfWrite(output: WrittenOutput, written: Written, write: Write): IDataObject {
	const { isDeletion, simplified } = output;
	if (isDeletion) return { deleted: true };
	const record = withUpsertOutcome(output, written, write);
	if (!simplified) return record;
	const { fields, readNames } = simplified;
	const simple = simplify(record, fields);
	const isAdded = (name: string) => !readNames.has(name) || (name !== allCustomFields && Object.hasOwn(write.body ?? {}, name));
	for (const name of Object.keys(record)) if (isAdded(name)) setMember(simple, name, ownMember(record, name));
	return simple;
}

/** What the status of a response tells about the record (RFC 9110, section 9.3.4). */
const upsertOutcomes: Record<number, string> = { 200: 'updated', 201: 'created' };

/** Adds to a record whether it was created or updated, if that is output, unless it has a field of that name. */
function withUpsertOutcome({ upsertOutcome: shown }: WrittenOutput, { record, status }: Written, { id, mayExist }: Write): IDataObject {
	if (shown === undefined || upsertOutcomeField in record) return record;
	const ofMatched = shown === 'byStatus' ? upsertOutcomes[status] : undefined;
	const outcome = mayExist ? ofMatched : id === undefined ? 'created' : 'updated';
	return outcome === undefined ? record : { ...record, [upsertOutcomeField]: outcome };
}
