import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { customFieldsIfAny } from '../api/customFields';
import type { ResourceDescription } from '../api/openapi/description';
import { executionOfOne } from '../base/contexts';
import { isObject, parsedValue } from '../base/json';
import { checkExact } from '../base/numbers';
import { allCustomFields, type Field } from '../fields/field';
import { replaceIds } from '../lookUp/replaceIds';
import { operationOf, type NodeRun, type Operation } from '../model';
import { hasOnlyBlanks, isBlank } from '../values/blank';
import type { ToolkitType, ToolName, ToolkitSettings } from './toolkitSettings';
import { toolTexts } from './toolTexts';

export interface ToolkitAnswer {
	data: IDataObject[];
	notes: string[];
	/** A note that is added if all data fits into the answer. */
	noteIfComplete?: string;
}

export interface ToolkitCall {
	n8n: IExecuteFunctions;
	api: Connection;
	settings: ToolkitSettings;
	args: ModelArguments;
	toolkitType: ToolkitType;
	/** Of the record type, by the service. */
	description: ResourceDescription;
	identity: NodeRun['identity'];
}

export interface NamedRecord {
	id: string;
	/** Its name and id. */
	title: string;
	record: IDataObject;
}

/** An operation of the node, with the model's parameters in place of the author's. */
export interface RequestedOperation {
	operation: Operation;
	/** The values of its parameters, by name: `filters.rows` too. */
	parameters: Record<string, unknown>;
	fields?: IDataObject;
	recordToChange?: NamedRecord | undefined;
}

/** @throws Error in the model's words if the record type does not have the operation */
export function availableOperation({ resource, name }: ToolkitType, value: string): Operation {
	const operation = operationOf(resource, value);
	if (operation) return operation;
	throw new Error(`${value} is not available for a ${name}. Use one of its actions, or another kind.`);
}

/** A record as the value of a parameter that picks one. */
export const picked = (value: string, mode: 'id' | 'name') => ({ __rl: true, mode, value });

/** The run of an operation. Nothing that the model sends is evaluated as an expression. */
export function runFor(
	{ n8n, api, toolkitType: { resource, objectKey }, identity }: ToolkitCall,
	{ operation, parameters, fields = {}, recordToChange }: RequestedOperation,
): NodeRun {
	const recordId = recordToChange && picked(recordToChange.id, 'id');
	const all: RequestedOperation['parameters'] = { ...parameters, recordId, objectKey, simplify: false };
	const context = executionOfOne(n8n, (parameter, _, otherwise) => all[parameter] ?? otherwise, {
		// Keeps the mapping from reading constant paths such as $json.id without n8n's expression engine.
		isToolExecution: () => true,
		evaluateExpression: (expression) => `=${expression}`,
	});
	return { n8n: context, api, resource, operation, identity, modelValues: fields, checks: { links: 'names', values: true } };
}

/** The writable fields of a record type, custom fields one by one. */
export async function writableFields({ api, toolkitType, description: { create, update } }: ToolkitCall): Promise<Field[]> {
	// Only a new record requires such a field.
	const fields = [...(create?.fields ?? []), ...(update?.fields ?? [])];
	const distinctFields = fields.filter((field, i) => fields.findIndex(({ name }) => name === field.name) === i);
	const custom = await customFieldsIfAny(api, toolkitType.collection, distinctFields);
	return [...distinctFields.filter(({ name }) => name !== allCustomFields), ...(custom?.fields ?? [])];
}

/** The records with names in place of linked ids and without blank values, which saves tokens. */
export async function forModel(api: Connection, fields: Field[], records: IDataObject[]): Promise<IDataObject[]> {
	const named = await replaceIds(api, { fields, by: 'names' }, records);
	return named.map((record) => withoutBlankMembers(record));
}

const withoutBlankMembers = (record: IDataObject): IDataObject =>
	Object.fromEntries(Object.entries(record).filter(([, value]) => !hasOnlyBlanks(value)).map(([name, value]) =>
		[name, isObject(value) ? withoutBlankMembers(value) : value]));

/** Maximum characters of a text: a cursor is the longest. */
const maxArgLength = 2_000;

/** The arguments from a model. Each reader throws an Error that says what to send instead. */
export class ModelArguments {
	private readonly values: IDataObject;
	private readonly toolkitTypes: ToolkitType[];

	/** @throws Error if there is an argument that the tool does not have */
	constructor(tool: ToolName, rawArgs: IDataObject, settings: ToolkitSettings) {
		this.values = Object.fromEntries(Object.entries(rawArgs).filter(([, value]) => !isBlank(value)));
		this.toolkitTypes = settings.toolkitTypes;
		const names = Object.keys(toolTexts(tool, settings).schema.shape);
		const unknown = Object.keys(this.values).filter((name) => !names.includes(name));
		if (unknown.length === 0) return;
		throw new Error(`${settings.prefix}_${tool} has no argument ${unknown.slice(0, 5).join(', ')}. It takes ${names.join(', ')}.`);
	}

	/** Refuses arguments of other changes, which would otherwise be ignored. */
	acceptOnly(verb: string, allowed: readonly string[]): void {
		const accepted = ['kind', 'action', 'token', ...allowed];
		const others = Object.keys(this.values).filter((name) => !accepted.includes(name) && !hasOnlyBlanks(this.values[name]));
		if (others.length > 0) throw new Error(`${verb} takes no ${others.join(', ')}. It takes ${allowed.join(', ')}.`);
	}

	/** The record type: the argument is called `kind`. */
	toolkitType(): ToolkitType {
		const name = this.choice('kind', this.toolkitTypes.map((candidate) => candidate.name));
		const [toolkitType, ...others] = this.toolkitTypes.filter((candidate) => candidate.name === name);
		if (others.every(({ objectKey }) => objectKey === toolkitType!.objectKey)) return toolkitType!;
		throw new Error(`Two kinds are called ${name}; one is a custom object. The workflow’s author must remove one of them from this node.`);
	}

	text(name: string): string | undefined {
		const value = this.values[name];
		if (value === undefined) return undefined;
		if (typeof value === 'object') throw new Error(`${name} takes a single string. Send it as "…".`);
		checkExact(name, value);
		const text = String(value).trim();
		if (text.length <= maxArgLength) return text;
		throw new Error(`${name} has ${text.length} characters; the maximum is ${maxArgLength}. Send the name, the id or a few words.`);
	}

	object(name: string): IDataObject {
		const value = this.values[name];
		if (value === undefined) return {};
		const parsed = parsedValue(value);
		if (isObject(parsed)) return parsed;
		throw new Error(`${name} takes an object, such as {"field": "value"}.`);
	}

	number(name: string, min: number, max: number): number | undefined {
		const value = this.values[name];
		if (value === undefined) return undefined;
		const number = Number(value);
		if (Number.isInteger(number) && number >= min && number <= max) return number;
		throw new Error(`${name} takes a whole number from ${min} to ${max}.`);
	}

	choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
		const value: unknown = this.values[name];
		const word = loose(value);
		const isSame = (choice: Choice) => loose(choice) === word || `${loose(choice)}s` === word;
		const [found, ...others] = choices.some((choice) => choice === value) ? [value as Choice] : new Set(choices.filter(isSame));
		if (others.length > 0) {
			throw new Error(`${name} ${String(value)} could be ${[found, ...others].join(', ')}. Send one of these as it is written here.`);
		}
		if (found !== undefined) return found;
		const problem = value === undefined ? `${name} is missing` : `${name} cannot be ${JSON.stringify(value).slice(0, 60)}`;
		throw new Error(`${problem}. Send one of ${choices.join(', ')}.`);
	}
}

/** `Move to Stage`, `move_to_stage` and `moveToStage` agree; a minus sign before an order reverses it. */
const loose = (value: unknown): string => String(value ?? '').trim().toLowerCase().replace(/(?!^-)[^\p{L}\p{N}]+/gu, '');
