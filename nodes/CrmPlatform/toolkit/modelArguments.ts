import type { IDataObject } from 'n8n-workflow';

import { isObject, parseJson, parsedValue } from '../base/json';
import { checkExact } from '../base/numbers';
import { isBlank, hasOnlyBlanks } from '../values/blank';
import type { RecordType, ToolName, ToolSettings } from './toolSettings';
import { toolTexts } from './toolTexts';

const maxNameLength = 255;

/** The arguments from a model. Each reader throws an Error that says what to send instead. */
export class ModelArguments {
	private readonly values: IDataObject;
	private readonly recordTypes: RecordType[];

	/** @throws Error if there is an argument that the tool does not have */
	constructor(tool: ToolName, rawArgs: IDataObject, settings: ToolSettings) {
		this.values = Object.fromEntries(Object.entries(rawArgs).filter(([, value]) => !isBlank(value)));
		this.recordTypes = settings.recordTypes;
		const names = Object.keys(toolTexts(tool, settings).schema.shape);
		const unknown = Object.keys(this.values).filter((name) => !names.includes(name));
		if (unknown.length === 0) return;
		throw new Error(`${settings.prefix}_${tool} has no argument ${unknown.slice(0, 5).join(', ')}. It takes ${names.join(', ')}.`);
	}

	/** Refuses arguments of other actions, which would otherwise be ignored. */
	acceptOnly(action: string, allowed: readonly string[]): void {
		const accepted = ['kind', 'action', 'token', ...allowed];
		const others = Object.keys(this.values).filter((name) => !accepted.includes(name) && !hasOnlyBlanks(this.values[name]));
		if (others.length > 0) throw new Error(`${action} takes no ${others.join(', ')}. It takes ${allowed.join(', ')}.`);
	}

	/** The record type: the argument is called `kind`. */
	recordType(): RecordType {
		const name = this.choice('kind', this.recordTypes.map((candidate) => candidate.name));
		const [recordType, ...others] = this.recordTypes.filter((candidate) => candidate.name === name);
		if (others.every(({ objectKey }) => objectKey === recordType!.objectKey)) return recordType!;
		throw new Error(`Two kinds are called ${name}; one is a custom object. The workflow’s author must remove one of them from this node.`);
	}

	/** Reads a text; undefined if the argument is missing. */
	text(name: string, maxLength = maxNameLength): string | undefined {
		const value = this.valueOf(name);
		return value === undefined ? undefined : asText(name, value, maxLength);
	}

	texts(name: string): string[] {
		const value = this.valueOf(name);
		const parsed = typeof value === 'string' ? (parseJson(value) ?? value) : (value ?? []);
		if (isObject(parsed)) throw new Error(`${name} takes a list of strings, such as ["…", "…"].`);
		return [parsed].flat().map((item: unknown) => asText(name, item, maxNameLength));
	}

	object(name: string): IDataObject {
		const value = this.valueOf(name);
		if (value === undefined) return {};
		const parsed = parsedValue(value);
		if (isObject(parsed)) return parsed;
		throw new Error(`${name} takes an object, such as {"field": "value"}.`);
	}

	number(name: string, min: number, max: number): number | undefined {
		const value = this.valueOf(name);
		if (value === undefined) return undefined;
		const number = Number(value);
		if (Number.isInteger(number) && number >= min && number <= max) return number;
		throw new Error(`${name} takes a whole number from ${min} to ${max}.`);
	}

	choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
		const value = this.valueOf(name);
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

	private valueOf(name: string): unknown {
		return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
	}
}

function asText(name: string, value: unknown, maxLength: number): string {
	if (typeof value === 'object') throw new Error(`${name} takes a single string. Send it as "…".`);
	checkExact(name, value);
	const text = String(value).trim();
	if (text.length > maxLength) {
		throw new Error(`${name} has ${text.length} characters; the maximum is ${maxLength}. Send the name, the id or a few words.`);
	}
	return text;
}

/** `Move to Stage`, `move_to_stage` and `moveToStage` agree. */
const loose = (value: unknown): string => String(value ?? '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
