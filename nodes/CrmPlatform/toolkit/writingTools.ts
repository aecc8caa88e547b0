import type { IDataObject } from 'n8n-workflow';

import { setMember } from '../base/ownMembers';
import { wordsOf } from '../mapping/fieldNames';
import type { Operation } from '../model';
import { isBlank } from '../values/blank';
import type { ModelArguments } from './modelArguments';
import { namedRecord } from './namedRecord';
import { matchByName } from './toolFields';
import { availableOperation, type NamedRecord, type RequestedOperation, type ToolRun } from './toolRun';
import { operationsOfChanges, type ToolChange, type RecordType } from './toolSettings';

/** Maximum number of records that one call deletes. */
const maxDeleted = 20;

/** The arguments of each change, besides kind and token. */
const acceptedArgs: Record<ToolChange, string[]> = {
	create: ['values'],
	update: ['record', 'values'],
	upsert: ['values', 'match_on'],
	delete: ['record', 'records', 'count'],
	tag: ['record', 'tag'],
	untag: ['record', 'tag'],
};

const picked = (value: string, mode: 'id' | 'name') => ({ __rl: true, mode, value });

const pickedRecord = (target: NamedRecord | undefined): RequestedOperation['parameters'] => (target ? { recordId: picked(target.id, 'id') } : {});

/** The writes of a call of crm_change. @throws Error in the model's words */
export async function requestedChanges(run: ToolRun, args: ModelArguments): Promise<RequestedOperation[]> {
	const { recordType } = run;
	const change = args.choice('action', run.settings.changes);
	const operation = availableOperation(recordType, operationsOfChanges[change]);
	if (!recordType.changes.includes(change)) throw needsSend(recordType, change);
	const accepted = acceptedArgs[change];
	args.acceptOnly(change, accepted);
	if (change === 'delete') return await deletions(run, operation, args);
	const fields = accepted.includes('values') ? changedValues(run, args) : {};
	const parameters = {
		...(change === 'upsert' && { fieldsMatchOn: chosenMatch(run, args) }),
		...(accepted.includes('tag') && { tagId: pickedTag(args) }),
	};
	const target = accepted.includes('record') ? await namedRecord(run, args.text('record')) : undefined;
	return [{ operation, parameters: { ...pickedRecord(target), ...parameters }, fields, target }];
}

const needsSend = ({ name }: RecordType, action: string): Error =>
	new Error(`A ${name} leaves the CRM, so ${action} is not allowed. The workflow’s author can allow it with Send in May Write.`);

function changedValues({ settings }: ToolRun, args: ModelArguments): IDataObject {
	const values = args.object('values');
	const names = Object.keys(values);
	if (names.length === 0) throw new Error(`values is missing. Send an object of fields and values; ${settings.prefix}_describe lists the fields.`);
	const id = names.find((name) => wordsOf(name) === 'id');
	if (id === undefined) return values;
	throw new Error(`values must not contain ${id}: the CRM assigns the id of a new record, and record names the one to change.`);
}

function pickedTag(args: ModelArguments) {
	const tag = args.text('tag');
	if (tag === undefined) throw new Error('tag is missing. Send the name or the id of a tag.');
	return picked(tag, 'name');
}

function chosenMatch({ description: { upsert } }: ToolRun, args: ModelArguments): string {
	const possible = (upsert?.match?.values ?? []).map((name) => ({ name, label: name }));
	const fieldName = args.text('match_on');
	if (fieldName === undefined) throw new Error(`match_on is missing. Send one of ${possible.map(({ name }) => name).join(', ')}.`);
	return matchByName(possible, fieldName, 'unique field').name;
}

/** @throws Error in the model's words, unless each of the records is identified unambiguously */
async function deletions(run: ToolRun, operation: Operation, args: ModelArguments): Promise<RequestedOperation[]> {
	const names = [args.text('record') ?? [], args.texts('records')].flat();
	if (names.length > maxDeleted) throw new Error(`At most ${maxDeleted} records can be deleted in one call. Send fewer.`);
	if (names.length === 0) {
		throw new Error(`record is missing. Name each ${run.recordType.name} to delete, by id or name. Deleting all at once is not possible.`);
	}
	const targets = new Map<string, NamedRecord>();
	for (const name of names) {
		const target = await namedRecord(run, name);
		targets.set(target.id, target);
	}
	const [records, size] = [[...targets.values()], targets.size];
	const count = args.number('count', 1, maxDeleted) ?? (size === 1 ? 1 : undefined);
	if (count === size) return records.map((target) => ({ operation, parameters: pickedRecord(target), target }));
	throw new Error(
		`This would delete ${size} ${size === 1 ? 'record' : 'records'}: ${records.map(({ title }) => title).join('; ')}. To delete ${size === 1 ? 'it' : 'all of them'}, send count: ${size}.`,
	);
}

/** The write of a call of crm_act. @throws Error in the model's words */
export async function requestedAction(run: ToolRun, args: ModelArguments): Promise<RequestedOperation[]> {
	const { recordType } = run;
	const { toolActions } = recordType;
	if (toolActions.length === 0 && recordType.leavesTheCrm) throw needsSend(recordType, 'acting on it');
	if (toolActions.length === 0) throw new Error(`There is no action for a ${recordType.name}. Use another kind.`);
	const action = args.choice('action', toolActions.map(({ option }) => String(option.value)));
	const operation = availableOperation(recordType, action);
	const properties = operation.properties(recordType.resource);
	const takesRecord = properties.some(({ name }) => name === 'recordId');
	if (!takesRecord && args.text('record') !== undefined) throw new Error(`${action} creates a new ${recordType.name}: omit record, and send values.`);
	const target = takesRecord ? await namedRecord(run, args.text('record')) : undefined;

	const picks = properties.filter(({ name, type }) => type === 'resourceLocator' && name !== 'recordId');
	const takesFields = properties.some(({ name }) => name === 'fieldsMode');
	const parameters = pickedRecord(target);
	const fields: IDataObject = {};
	for (const [name, value] of Object.entries(args.object('values'))) {
		const words = wordsOf(name);
		const pick = picks.find((candidate) => [candidate.name, candidate.displayName].map(wordsOf).some((label) => words === label || words === `${label}id`));
		if (pick && parameters[pick.name] !== undefined) throw new Error(`${name} and another name mean the ${pick.displayName}. Send it once.`);
		if (!pick && !takesFields) {
			throw new Error(`${action} does not take ${name}. It takes ${picks.map(({ displayName }) => displayName.toLowerCase()).join(', ') || 'no values'}.`);
		}
		if (!pick) setMember(fields, name, value);
		else if (!isBlank(value)) parameters[pick.name] = picked(String(value), 'name');
	}
	// A stage without a pipeline belongs to the deal's pipeline: other pipelines may have stages of the same name.
	const pipelineId = target?.record.pipeline_id;
	if (parameters.stageId !== undefined && typeof pipelineId === 'string') parameters.pipelineId ??= picked(pipelineId, 'id');
	return [{ operation, parameters, fields, target }];
}
