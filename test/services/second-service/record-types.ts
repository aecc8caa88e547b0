import { z } from 'zod/v4';

import { Refusal } from './refusal.ts';

export type StoredRecord = Record<string, unknown> & { id: string };
type Condition = (record: StoredRecord) => boolean;
/** Turns the text of a query parameter into a condition, or refuses it with 400. */
type Filter = (value: string, parameter: string) => Condition;

/** The records of a collection, and the filters and orders of its list. */
export interface RecordTypeDefinition {
	path: string;
	prefix: string;
	/** Every field a client may write; unknown ones are refused. */
	fields: z.ZodObject;
	required: string;
	unique: string;
	/** The default values of a new record. */
	blank: () => Record<string, unknown>;
	/** Fields that hold IDs, and the collections of those IDs. */
	references: Record<string, string>;
	filters: Record<string, Filter>;
	orders: string[];
}

const text = z.string().trim().min(1).max(120);

const equal =
	(field: string, allowed?: readonly string[]): Filter =>
	(value, parameter) => {
		if (allowed && !allowed.includes(value)) refuseValue(parameter, allowed.join(', '));
		return (record) => String(record[field]) === value;
	};

const notBefore =
	(field: string): Filter =>
	(value, parameter) => {
		const from = Date.parse(value);
		if (Number.isNaN(from)) refuseValue(parameter, 'a date-time');
		return (record) => Date.parse(String(record[field])) >= from;
	};

const atLeast =
	(field: string): Filter =>
	(value, parameter) => {
		if (!/^\d+$/.test(value)) refuseValue(parameter, 'a whole number');
		return (record) => Number(record[field] ?? -1) >= Number(value);
	};

const contains =
	(...fields: string[]): Filter =>
	(value) =>
	(record) =>
		fields.some((field) =>
			String(record[field] ?? '').toLowerCase().includes(value.toLowerCase()),
		);

function refuseValue(parameter: string, allowed: string): never {
	throw new Refusal(400, 'bad_parameter', `${parameter} must be ${allowed}.`);
}

export const segments = ['prospect', 'customer', 'partner', 'former'] as const;
export const branches = ['energy', 'farming', 'finance', 'manufacturing', 'trade'] as const;

const bothWays = (field: string) => [`${field}.asc`, `${field}.desc`];

export const company: RecordTypeDefinition = {
	path: 'companies',
	prefix: 'firm',
	fields: z.strictObject({
		legal_name: text,
		registration_number: text.nullable(),
		headcount: z.int().min(0).nullable(),
		branch: z.enum(branches).nullable(),
		listed: z.boolean(),
		founded: z.iso.date().nullable(),
	}),
	required: 'legal_name',
	unique: 'registration_number',
	blank: () => ({
		registration_number: null,
		headcount: null,
		branch: null,
		listed: false,
		founded: null,
	}),
	references: {},
	filters: {
		branch: equal('branch', branches),
		listed: equal('listed', ['true', 'false']),
		headcount_from: atLeast('headcount'),
		text: contains('legal_name', 'registration_number'),
	},
	orders: [...bothWays('legal_name'), ...bothWays('headcount')],
};

export const contact: RecordTypeDefinition = {
	path: 'contacts',
	prefix: 'person',
	fields: z.strictObject({
		given_name: text.nullable(),
		family_name: text,
		mail: z.email().nullable(),
		birthday: z.iso.date().nullable(),
		employer_id: z.string().nullable(),
		vip: z.boolean(),
		score: z.int().min(0).max(100).nullable(),
		segment: z.enum(segments).nullable(),
		joined_on: z.iso.datetime({ offset: true }),
	}),
	required: 'family_name',
	unique: 'mail',
	blank: () => ({
		given_name: null,
		mail: null,
		birthday: null,
		employer_id: null,
		vip: false,
		score: null,
		segment: null,
		joined_on: new Date().toISOString(),
	}),
	references: { employer_id: 'companies' },
	filters: {
		segment: equal('segment', segments),
		vip: equal('vip', ['true', 'false']),
		employer_id: equal('employer_id'),
		mail: equal('mail'),
		joined_since: notBefore('joined_on'),
		text: contains('given_name', 'family_name', 'mail'),
	},
	orders: [...bothWays('family_name'), ...bothWays('joined_on')],
};
