import type { IDataObject } from 'n8n-workflow';

import { isObject, parseJson } from '../api/http/json';
import { isBlank, isUnset } from '../values/blank';
import type { RecordType } from './toolSettings';

/** Maximum length of a name. */
const maxName = 255;

/** The arguments from a model. Each reader throws an Error that says what to send instead. */
export interface CallArguments {
	/** The record type: the argument is called `kind`. */
	recordType(): RecordType;
	/** A text; undefined where there is none. */
	text(name: string, maxLength?: number): string | undefined;
	texts(name: string): string[];
	object(name: string): IDataObject;
	number(name: string, min: number, max: number): number | undefined;
	choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice;
	/** Refuses arguments of other actions, which would otherwise be ignored. */
	only(action: string, names: readonly string[]): void;
}

/**
 * @param names of the tool's arguments
 * @throws Error where there is an argument that the tool does not have
 */
export function readCallArguments(tool: string, rawArgs: IDataObject, names: string[], recordTypes: RecordType[]): CallArguments {
	const nonBlankArgs = Object.fromEntries(Object.entries(rawArgs).filter(([, value]) => !isBlank(value)));
	const unknown = Object.keys(nonBlankArgs).filter((name) => !names.includes(name));
	if (unknown.length > 0) throw new Error(`${tool} has no argument ${unknown.slice(0, 5).join(', ')}. It takes ${names.join(', ')}.`);
	const valueOf = (name: string): unknown => (Object.hasOwn(nonBlankArgs, name) ? nonBlankArgs[name] : undefined);
	const plain = (name: string, value: unknown, maxLength: number): string => {
		if (typeof value === 'object') throw new Error(`${name} takes a single string. Send it as "…".`);
		const text = String(value).trim();
		if (text.length > maxLength) throw new Error(`${name} has ${text.length} characters; the maximum is ${maxLength}. Send the name, the id or a few words.`);
		return text;
	};
	const args: CallArguments = {
		only(action, allowed) {
			const others = Object.keys(nonBlankArgs).filter((name) => !['kind', 'action', 'token', ...allowed].includes(name) && !isUnset(nonBlankArgs[name]));
			if (others.length > 0) throw new Error(`${action} takes no ${others.join(', ')}. It takes ${allowed.join(', ')}.`);
		},
		recordType() {
			const name = args.choice('kind', recordTypes.map((candidate) => candidate.name));
			const [recordType, ...others] = recordTypes.filter((candidate) => candidate.name === name);
			if (others.every(({ objectKey }) => objectKey === recordType!.objectKey)) return recordType!;
			throw new Error(`Two kinds are called ${name}; one is a custom object. The workflow’s author must remove one of them from this node.`);
		},
		text(name, maxLength = maxName) {
			const value = valueOf(name);
			return value === undefined ? undefined : plain(name, value, maxLength);
		},
		texts(name) {
			const value = valueOf(name);
			const parsed = typeof value === 'string' ? (parseJson(value) ?? value) : (value ?? []);
			if (isObject(parsed)) throw new Error(`${name} takes a list of strings, such as ["…", "…"].`);
			return [parsed].flat().map((item: unknown) => plain(name, item, maxName));
		},
		object(name) {
			const value = valueOf(name);
			if (value === undefined) return {};
			const parsed = typeof value === 'string' ? parseJson(value) : value;
			if (isObject(parsed)) return parsed;
			throw new Error(`${name} takes an object, such as {"field": "value"}.`);
		},
		number(name, min, max) {
			const value = valueOf(name);
			if (value === undefined) return undefined;
			const number = Number(value);
			if (Number.isInteger(number) && number >= min && number <= max) return number;
			throw new Error(`${name} takes a whole number from ${min} to ${max}.`);
		},
		choice(name, choices) {
			const value = valueOf(name);
			const word = loose(value);
			const exact = choices.find((choice) => choice === value);
			if (exact !== undefined) return exact;
			const same = [...new Set(choices.filter((choice) => loose(choice) === word || `${loose(choice)}s` === word))];
			const [found] = same;
			if (found !== undefined && same.length === 1) return found;
			if (found !== undefined) throw new Error(`${name} ${String(value)} could be ${same.join(', ')}. Send one of these as it is written here.`);
			const problem = value === undefined ? `${name} is missing` : `${name} cannot be ${JSON.stringify(value).slice(0, 60)}`;
			throw new Error(`${problem}. Send one of ${choices.join(', ')}.`);
		},
	};
	return args;
}

/** `Move to Stage`, `move_to_stage` and `moveToStage` agree. */
const loose = (value: unknown): string => String(value ?? '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
