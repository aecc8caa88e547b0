import type { IDataObject } from 'n8n-workflow';

import { wordsOf } from '../mapping/fieldNames';
import { isBlank } from '../values/blank';
import type { ModelArguments } from './modelArguments';
import { matchByName } from './toolFields';
import { namedRecord } from './namedRecord';
import { toolDescription, operationOfRecordType, type NamedRecord, type RequestedWrite, type ToolRun } from './toolRun';
import type { ToolAnswer } from './readingTools';
import {
	actionsOf,
	allowedChanges,
	changeMaySend,
	hasSendingAction,
	operationsOfChanges,
	type ToolChange,
	type RecordType,
} from './toolSettings';
import { doWrites } from './toolWrites';

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

export async function changeTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const change = args.choice('action', allowedChanges(run.settings.verbs));
	if (!run.settings.verbs.has('send') && changeMaySend(change, recordType)) throw needsSend(recordType, change);
	const token = run.settings.asksFirst ? args.text('token') : undefined;
	args.acceptOnly(change, acceptedArgs[change]);
	const values = args.object('values');
	if (change === 'delete') return await doWrites(run, await deletions(run, recordType, args), token);
	const operation = operationOfRecordType(recordType, operationsOfChanges[change]);
	if (change === 'tag' || change === 'untag') {
		const tag = args.text('tag');
		if (tag === undefined) throw new Error('tag is missing. Send the name or the id of a tag.');
		const target = await namedRecord(run, recordType, args.text('record'));
		return await doWrites(run, [{ recordType, operation, parameters: { ...pickedRecord(target), tagId: picked(tag, 'name') }, target }], token);
	}
	if (Object.keys(values).length === 0) {
		throw new Error(`values is missing. Send an object of fields and values; ${run.settings.prefix}_describe lists the fields.`);
	}
	const id = Object.keys(values).find((name) => wordsOf(name) === 'id');
	if (id !== undefined) throw new Error(`values must not contain ${id}: the CRM assigns the id of a new record, and record names the one to change.`);
	if (change === 'update') {
		const target = await namedRecord(run, recordType, args.text('record'));
		return await doWrites(run, [{ recordType, operation, parameters: pickedRecord(target), fields: values, target }], token);
	}
	const parameters = change === 'upsert' ? { fieldsMatchOn: await chosenMatch(run, recordType, args) } : {};
	return await doWrites(run, [{ recordType, operation, parameters, fields: values }], token);
}

const needsSend = ({ name }: RecordType, action: string): Error =>
	new Error(`A ${name} leaves the CRM, so ${action} is not allowed. The workflow’s author can allow it with Send in May Write.`);

async function chosenMatch(run: ToolRun, recordType: RecordType, args: ModelArguments): Promise<string> {
	const { upsert } = await toolDescription(run, recordType);
	const possible = (upsert?.match?.values ?? []).map((name) => ({ name, label: name }));
	const fieldName = args.text('match_on');
	if (fieldName === undefined) throw new Error(`match_on is missing. Send one of ${possible.map(({ name }) => name).join(', ')}.`);
	return matchByName(possible, fieldName, 'unique field').name;
}

const picked = (value: string, mode: 'id' | 'name') => ({ __rl: true, mode, value });

const pickedRecord = ({ id }: NamedRecord) => ({ recordId: picked(id, 'id') });

/** @throws Error in the model's words, unless each of the records is identified unambiguously */
async function deletions(run: ToolRun, recordType: RecordType, args: ModelArguments): Promise<RequestedWrite[]> {
	const nameOrId = args.text('record');
	const names = [...(nameOrId === undefined ? [] : [nameOrId]), ...args.texts('records')];
	if (names.length > maxDeleted) throw new Error(`At most ${maxDeleted} records can be deleted in one call. Send fewer.`);
	if (names.length === 0) {
		throw new Error(`record is missing. Name each ${recordType.name} to delete, by id or name. Deleting all at once is not possible.`);
	}
	const operation = operationOfRecordType(recordType, 'delete');
	const targets = new Map<string, NamedRecord>();
	for (const name of names) {
		const target = await namedRecord(run, recordType, name);
		targets.set(target.id, target);
	}
	const count = args.number('count', 1, maxDeleted);
	const isSure = targets.size === 1 ? count === undefined || count === 1 : count === targets.size;
	if (!isSure) {
		throw new Error(
			`This would delete ${targets.size} ${targets.size === 1 ? 'record' : 'records'}: ${[...targets.values()].map(({ title }) => title).join('; ')}. To delete ${targets.size === 1 ? 'it' : 'all of them'}, send count: ${targets.size}.`,
		);
	}
	return [...targets.values()].map((target) => ({ recordType, operation, parameters: pickedRecord(target), target }));
}

export async function actTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const actions = actionsOf(recordType, run.settings.verbs);
	if (actions.length === 0 && hasSendingAction(recordType)) throw needsSend(recordType, 'acting on it');
	if (actions.length === 0) throw new Error(`There is no action for a ${recordType.name}. Use another kind.`);
	const action = args.choice('action', actions.map(({ option }) => String(option.value)));
	const operation = operationOfRecordType(recordType, action);
	const properties = operation.properties(recordType.resource);
	const token = run.settings.asksFirst ? args.text('token') : undefined;
	const takesRecord = properties.some(({ name }) => name === 'recordId');
	if (!takesRecord && args.text('record') !== undefined) {
		throw new Error(`${action} creates a new ${recordType.name}: omit record, and send values.`);
	}
	const target = takesRecord ? await namedRecord(run, recordType, args.text('record')) : undefined;

	const picks = properties.filter(({ name, type }) => type === 'resourceLocator' && name !== 'recordId');
	const values = Object.entries(args.object('values'));
	const pickFor = (name: string) =>
		picks.find((pick) => [pick.name, pick.displayName].some((label) => [wordsOf(label), `${wordsOf(label)}id`].includes(wordsOf(name))));
	const isAsked = properties.some(({ name }) => name === 'fieldsMode');
	const parameters: Record<string, unknown> = target ? pickedRecord(target) : {};
	for (const [name, value] of values) {
		const pick = pickFor(name);
		if (pick && parameters[pick.name] !== undefined) throw new Error(`${name} and another name mean the ${pick.displayName}. Send it once.`);
		if (pick && !isBlank(value)) parameters[pick.name] = picked(String(value), 'name');
		else if (!pick && !isAsked) {
			throw new Error(
				`${action} does not take ${name}. It takes ${picks.map(({ displayName }) => displayName.toLowerCase()).join(', ') || 'no values'}.`,
			);
		}
	}
	addDealPipeline(parameters, target);
	const fields: IDataObject = Object.fromEntries(values.filter(([name]) => !pickFor(name)));
	return await doWrites(run, [{ recordType, operation, parameters, fields, ...(target && { target }) }], token);
}

/** A stage without a pipeline belongs to the deal's pipeline: other pipelines may have stages of the same name. */
function addDealPipeline(parameters: Record<string, unknown>, target: NamedRecord | undefined): void {
	const pipelineId = target?.record.pipeline_id;
	if (parameters.stageId !== undefined && parameters.pipelineId === undefined && typeof pipelineId === 'string') {
		parameters.pipelineId = picked(pipelineId, 'id');
	}
}
