import type { INodeProperties, ResourceMapperTypeOptions } from 'n8n-workflow';

import choices from '../../../contract/choices.json';
import type { Resource } from '../model';
import { linkedProperty } from './linkedRecordParameters';
import { fieldsDependOn } from './recordParameters';

type MapperOptions = Omit<
	Extract<ResourceMapperTypeOptions, { resourceMapperMethod: string }>,
	'localResourceMapperMethod' | 'mode'
>;

/**
 * A resource mapper with the fields of the service's description.
 *
 * Of n8n 2.41's modes, `add` shows every required field as an error before anything is entered, and
 * `upsert` shows the field to match on by its name in the API instead of its label. `map` does neither.
 *
 * When the user switches the operation, n8n 2.41 mounts a mapper twice, the second time with an empty value in
 * place of null, and then shows every field. Without `addAllFields`, it shows the fields that are marked as
 * required. The mark has no other effect in `map`, so the pickers set it on the fields that a form begins with.
 */
export function mapperProperty(
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	mapper: MapperOptions,
): INodeProperties {
	return {
		...property,
		type: 'resourceMapper',
		noDataExpression: true,
		default: { mappingMode: 'defineBelow', value: null },
		typeOptions: {
			loadOptionsDependsOn: fieldsDependOn,
			resourceMapper: { mode: 'map', addAllFields: false, refreshIncompleteSchemaOnOpen: true, ...mapper },
		},
	};
}

/**
 * n8n 2.41 requests the fields of a new node before it assigns the credential, and does not request them again
 * afterwards. The form then begins with a hidden field, on which this notice depends.
 *
 * @param mapper the name of the form
 */
export const missingFieldsNotice = (mapper: string, show: Record<string, string[]>): INodeProperties => ({
	displayName: 'Custom fields and lists are not loaded yet. To load them: <b>⋮ → Refresh Field List</b>.',
	name: `${mapper}MissingNotice`,
	type: 'notice',
	default: '',
	displayOptions: { show: { ...show, [`/${mapper}.schema[0].id`]: ['beforeCredential'] } },
});

/**
 * The parameters for the values to write: a mapper or one JSON object, and linked records.
 *
 * @param resource the resource, if all its fields can be written
 * @param special settings of this mapper alone
 */
export function fieldsProperties(resource?: Resource, special: Partial<MapperOptions> = {}): INodeProperties[] {
	const mapper = mapperProperty(
		{ displayName: 'Fields', name: 'fields', description: 'The values to send' },
		{
			resourceMapperMethod: 'getFields',
			fieldWords: { singular: 'field', plural: 'fields' },
			multiKeyMatch: false,
			// Specify Fields selects the mode. n8n would add a second selector below it.
			supportAutoMap: false,
			...special,
		},
	);
	return [
		fieldsMode,
		missingFieldsNotice('fields', { fieldsMode: ['each'] }),
		{ ...mapper, displayOptions: { show: { fieldsMode: ['each'] } } },
		fieldsJson,
		...choicesNotice(resource),
		...(resource?.hasLinks ? [fieldsLinked] : []),
	];
}

const knownFields = (path = ''): Record<string, string[]> =>
	(choices as Record<string, Record<string, string[]>>)[path] ?? {};

/** Describes the fields to AI builders, which see no form. */
export const fieldsJsonHint =
	'fieldsJson has fields and values as one object, or an expression that gives one. Linked records go by ID or name.';

/** The fields of some resources that are filled in first, with their choices: `ticket: subject, priority (low|high)` */
export const describeFields = (resources: Array<Pick<Resource, 'value' | 'path'>>, withChoices = true): string =>
	resources
		.map(({ value, path }) => ({ value, fields: Object.entries(knownFields(path)) }))
		.filter(({ fields }) => fields.length > 0)
		.map(({ value, fields }) => {
			const named = fields.map(([name, values]) => (withChoices && values.length > 0 ? `${name} (${values.join('|')})` : name));
			return `${value}: ${named.join(', ')}`;
		})
		.join('; ');

/** The choices, which JSON does not show. */
function choicesNotice(resource: Resource | undefined): INodeProperties[] {
	const chosen = Object.entries(knownFields(resource?.path)).filter(([, values]) => values.length > 0);
	if (chosen.length === 0) return [];
	return [
		{
			displayName: `Allowed values: ${chosen.map(([name, values]) => `${name}: ${values.join(', ')}.`).join(' ')}`,
			name: 'choicesNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { fieldsMode: ['json'] } },
		},
	];
}

const fieldsMode: INodeProperties = {
	displayName: 'Specify Fields',
	name: 'fieldsMode',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Map Automatically',
			value: 'automatic',
			description: 'Send the input values whose names match fields',
		},
		{
			name: 'Map Each Field',
			value: 'each',
			description: 'Fill in a form with the fields of the record',
		},
		{
			name: 'Using JSON',
			value: 'json',
			description: 'Send one JSON object, such as one from an earlier node or an AI agent',
		},
	],
	default: 'each',
};

/**
 * The choice of a unique field by which records are found.
 *
 * @param description what the field is for
 * @param method fills the list
 */
export function matchOnProperty(
	property: Pick<INodeProperties, 'name'> & Partial<INodeProperties>,
	description: string,
	method = 'getMatchFields',
): INodeProperties {
	return {
		displayName: 'Match On Name or ID',
		type: 'options',
		typeOptions: { loadOptionsMethod: method, loadOptionsDependsOn: ['resource', 'kind', 'objectKey.value'] },
		default: '',
		...property,
		description: `${description} Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.`,
	};
}

/** Description of a Match On that may be left empty. */
export const matchOnDescription = 'The unique field that identifies a record, such as email.';

/** The field an upsert finds the record by. */
export const fieldsMatchOn = matchOnProperty(
	{ name: 'fieldsMatchOn', hint: 'A record with the same value is updated' },
	matchOnDescription,
);

const fieldsJson: INodeProperties = {
	displayName: 'Fields (JSON)',
	name: 'fieldsJson',
	type: 'json',
	displayOptions: { show: { fieldsMode: ['json'] } },
	default: '{}',
	description: 'Field names and values. Custom fields go into custom_fields, and null clears a field.',
};

const fieldsLinked = linkedProperty({
	displayName: 'Linked Records',
	name: 'fieldsLinked',
	description: 'Records to link, such as the company of a contact',
});

/** Whether an empty cell is a value. */
export const emptyCells: INodeProperties = {
	displayName: 'Empty Cells',
	name: 'emptyCells',
	type: 'options',
	options: [
		{ name: 'Clear the Field', value: 'clear', description: 'Erase the value in the record' },
		{ name: 'Leave the Field Unchanged', value: 'leave', description: 'Keep the value in the record' },
	],
	default: 'leave',
	description: 'What to do with fields that are empty in the input',
};

/** Empty Cells, for automatic mapping alone. */
export const emptyCellsOption: INodeProperties = {
	...emptyCells,
	displayOptions: { hide: { '/fieldsMode': ['each', 'json'] } },
};

/** Lets texts through that are usually mistakes (fields/errorText). */
export const errorTextsOption: INodeProperties = {
	displayName: 'Write Error Texts',
	name: 'writeErrorTexts',
	type: 'boolean',
	default: false,
	description: 'Whether to write texts such as #N/A, undefined or [object Object], which are refused as mistakes otherwise',
};

/** How values are written that come from people and other systems (mapping/chosenNotations). */
export const valuesInOption: INodeProperties = {
	displayName: 'Values In',
	name: 'valuesIn',
	type: 'fixedCollection',
	default: {},
	placeholder: 'Add Notations',
	description: 'How dates, numbers and other values are written',
	options: [
		{
			displayName: 'Notations',
			name: 'notation',
			values: [
				{
					displayName: 'Countries Are',
					name: 'countries',
					type: 'options',
					options: [
						{ name: 'As in the API', value: 'api', description: 'Two-letter codes' },
						{ name: 'Names', value: 'names', description: 'Such as Germany or Deutschland; codes are read as well' },
					],
					default: 'api',
				},
				{
					displayName: 'Dates Are',
					name: 'dates',
					type: 'options',
					options: [
						{ name: 'As in the API', value: 'api', description: 'Such as 2026-03-31' },
						{ name: 'Day/Month/Year', value: 'dayMonth', description: 'Such as 31.3.2026 or 31/03/2026 14:30' },
						{ name: 'Excel’s Day Numbers', value: 'excel', description: 'Such as 46112' },
						{ name: 'Month/Day/Year', value: 'monthDay', description: 'Such as 3/31/2026 2:30 PM' },
					],
					default: 'api',
				},
				{
					displayName: 'Default Country for Phones',
					name: 'phoneCountry',
					type: 'string',
					default: '',
					placeholder: 'e.g. DE',
					description: 'The two-letter code of the country of numbers without a country code, if they have an area code',
				},
				{
					displayName: 'Lists Are Separated By',
					name: 'lists',
					type: 'options',
					options: [
						{ name: ':::', value: 'colons' },
						{ name: 'As in the API', value: 'api', description: 'Commas, or JSON' },
						{ name: 'Comma', value: 'comma' },
						{ name: 'Line Break', value: 'line' },
						{ name: 'Pipe', value: 'pipe' },
						{ name: 'Semicolon', value: 'semicolon' },
					],
					default: 'api',
				},
				{
					displayName: 'Numbers Are',
					name: 'numbers',
					type: 'options',
					options: [
						{ name: '1,234.56', value: 'point', description: 'Also with a currency' },
						{ name: '1.234,56', value: 'comma', description: 'Also 1 234,56, and with a currency' },
						{ name: 'As in the API', value: 'api', description: 'Such as 1234.56' },
					],
					default: 'api',
				},
				{
					displayName: 'Value Map',
					name: 'valueMap',
					type: 'string',
					typeOptions: { rows: 4 },
					default: '',
					placeholder: 'e.g. Subscriber → lead',
					description: 'What choices and linked records are called here, and in the CRM: one pair a line, with an arrow (→ or ->) between them',
				},
				{
					displayName: 'Yes and No Are',
					name: 'booleans',
					type: 'options',
					options: [
						{ name: 'As in the API', value: 'api', description: 'True and false, 1 and 0' },
						{ name: 'Words', value: 'words', description: 'Such as yes and no, ja and nein, oui and non, WAHR and FALSCH' },
						{ name: 'X', value: 'mark', description: 'An x for yes' },
					],
					default: 'api',
				},
			],
		},
	],
};

/** The effect of a blank on an existing record, with values filled in and with automatic mapping. */
export const blankNotices: INodeProperties[] = [
	{
		displayName:
			'Empty fields are not changed. To clear a field, set it to the expression <code>{{ null }}</code>.',
		name: 'blankNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { fieldsMode: ['each'] } },
	},
	{
		displayName: 'Empty cells do not change a record, unless you add the option Empty Cells.',
		name: 'emptyCellsNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { fieldsMode: ['automatic'] } },
	},
];
