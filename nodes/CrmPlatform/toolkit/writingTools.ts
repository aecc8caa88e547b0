import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { idText } from '../base/json';
import { setMember } from '../base/ownMembers';
import { wordsOf } from '../mapping/fieldNames';
import { isBlank } from '../values/blank';
import { namedRecord } from './namedRecord';
import { availableOperation, type NamedRecord, type RequestedOperation, type ToolkitCall } from './toolkitCall';
import { toolkitChanges, type ToolkitType } from './toolkitSettings';

const picked = (value: string, mode: 'id' | 'name') => ({ __rl: true, mode, value });

const pickedRecord = (recordToChange: NamedRecord | undefined): RequestedOperation['parameters'] =>
	(recordToChange ? { recordId: picked(recordToChange.id, 'id') } : {});

/** The write of a call of crm_change. @throws Error in the model's words */
export async function requestedChange(call: ToolkitCall): Promise<RequestedOperation> {
	const { args, toolkitType, settings } = call;
	const change = args.choice('action', settings.changes);
	const operation = availableOperation(toolkitType, toolkitChanges[change].operation);
	if (!toolkitType.changes.includes(change)) throw needsSend(toolkitType, change);
	const accepted: readonly string[] = toolkitChanges[change].args;
	args.acceptOnly(change, accepted);
	const fields = accepted.includes('values') ? changedValues(call) : {};
	const tag = accepted.includes('tag') ? args.text('tag') : '';
	if (tag === undefined) throw new Error('tag is missing. Send the name or the id of a tag.');
	const parameters = {
		...(change === 'upsert' && { fieldsMatchOn: args.choice('match_on', call.description.upsert?.match?.values ?? []) }),
		...(accepted.includes('tag') && { tagId: picked(tag, 'name') }),
	};
	const recordToChange = accepted.includes('record') ? await namedRecord(call, args.text('record')) : undefined;
	return { operation, parameters: { ...pickedRecord(recordToChange), ...parameters }, fields, recordToChange };
}

const needsSend = ({ name }: ToolkitType, action: string): Error =>
	new Error(`A ${name} leaves the CRM, so ${action} is not allowed. The workflow’s author can allow it with Send in May Write.`);

function changedValues({ args, settings }: ToolkitCall): IDataObject {
	const values = args.object('values');
	const names = Object.keys(values);
	if (names.length === 0) {
		throw new Error(`values is missing. Send an object of fields and values; ${settings.prefix}_describe lists the fields.`);
	}
	const id = names.find((name) => wordsOf(name) === 'id');
	if (id === undefined) return values;
	throw new Error(`values must not contain ${id}: the CRM assigns the id of a new record, and record names the one to change.`);
}

/** The write of a call of crm_act. @throws Error in the model's words */
export async function requestedAction(call: ToolkitCall): Promise<RequestedOperation> {
	const { args, toolkitType } = call;
	const { toolActions } = toolkitType;
	if (toolActions.length === 0 && toolkitType.leavesTheCrm) throw needsSend(toolkitType, 'acting on it');
	if (toolActions.length === 0) throw new Error(`There is no action for a ${toolkitType.name}. Use another kind.`);
	const action = args.choice('action', toolActions.map(({ option }) => String(option.value)));
	const operation = availableOperation(toolkitType, action);
	const properties = operation.properties(toolkitType.resource);
	const takesRecord = properties.some(({ name }) => name === 'recordId');
	if (!takesRecord && args.text('record') !== undefined) {
		throw new Error(`${action} creates a new ${toolkitType.name}: omit record, and send values.`);
	}
	const recordToChange = takesRecord ? await namedRecord(call, args.text('record')) : undefined;
	const { picks, fields } = valuesOfAction(args.object('values'), action, properties);
	// A stage without a pipeline belongs to the deal's pipeline: other pipelines may have stages of the same name.
	const pipelineId = idText(recordToChange?.record.pipeline_id);
	const pipeline = picks.stageId !== undefined && pipelineId !== undefined ? { pipelineId: picked(pipelineId, 'id') } : {};
	return { operation, parameters: { ...pickedRecord(recordToChange), ...pipeline, ...picks }, fields, recordToChange };
}

/** The values of an action: records that it lets users pick, and fields. @throws Error in the model's words */
function valuesOfAction(values: IDataObject, action: string, properties: INodeProperties[]) {
	const pickers = properties.filter(({ name, type }) => type === 'resourceLocator' && name !== 'recordId');
	const takesFields = properties.some(({ name }) => name === 'fieldsMode');
	const [picks, fields]: [RequestedOperation['parameters'], IDataObject] = [{}, {}];
	for (const [name, value] of Object.entries(values)) {
		const words = wordsOf(name);
		const isMeant = (label: string) => words === wordsOf(label) || words === `${wordsOf(label)}id`;
		const picker = pickers.find((candidate) => [candidate.name, candidate.displayName].some(isMeant));
		if (picker && picks[picker.name] !== undefined) throw new Error(`${name} and another name mean the ${picker.displayName}. Send it once.`);
		if (!picker && !takesFields) {
			const taken = pickers.map(({ displayName }) => displayName.toLowerCase()).join(', ') || 'no values';
			throw new Error(`${action} does not take ${name}. It takes ${taken}.`);
		}
		if (!picker) setMember(fields, name, value);
		else if (!isBlank(value)) picks[picker.name] = picked(String(value), 'name');
	}
	return { picks, fields };
}
