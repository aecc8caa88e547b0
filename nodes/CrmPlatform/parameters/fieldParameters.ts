import type { INodeProperties } from 'n8n-workflow';

import choices from '../../../contract/choices.json';
import type { MenuEntry, Resource } from '../model';
import { choiceProperty, jsonProperty, listedChoice, noticeProperty, rowsProperty, textProperty } from './properties';
import { fieldsDependOn, linkedOrNewPicker } from './recordParameters';

/**
 * A resource mapper with the fields of the service's description, and the notice for when they are not loaded yet.
 *
 * Of n8n 2.41's modes, `add` shows every required field as an error before anything is entered, and
 * `upsert` shows the field to match on by its name in the API instead of its label. `map` does neither.
 *
 * When the user switches the operation, n8n 2.41 mounts a mapper twice, the second time with an empty value in
 * place of null, and then shows every field. Without `addAllFields`, it shows the fields that are marked as
 * required. The mark has no other effect in `map`, so the pickers set it on the fields that a form begins with.
 *
 * n8n 2.41 requests the fields of a new node before it assigns the credential, and does not request them again
 * afterwards. The form then begins with a hidden field, on which the notice depends.
 */
export const mapperProperties = (
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	resourceMapperMethod: string,
	show: Record<string, string[]>,
	{ dependsOn = fieldsDependOn, ...more }: { dependsOn?: string[]; valuesLabel?: string } = {},
): INodeProperties[] => [
	noticeProperty('Custom fields and lists are not loaded yet. To load them: <b>⋮ → Refresh Field List</b>.', `${property.name}MissingNotice`, {
		displayOptions: { show: { ...show, [`/${property.name}.schema[0].id`]: ['beforeCredential'] } },
	}),
	{
		...property,
		type: 'resourceMapper',
		noDataExpression: true,
		default: { mappingMode: 'defineBelow', value: null },
		typeOptions: {
			loadOptionsDependsOn: dependsOn,
			resourceMapper: {
				mode: 'map',
				addAllFields: false,
				refreshIncompleteSchemaOnOpen: true,
				resourceMapperMethod,
				fieldWords: { singular: 'field', plural: 'fields' },
				multiKeyMatch: false,
				// A parameter selects the mode. n8n would add a second selector below it.
				supportAutoMap: false,
				...more,
			},
		},
		displayOptions: { show },
	},
];

/**
 * The parameters for the values to write: a mapper or one JSON object, and linked records.
 *
 * @param resource the resource, if all its fields can be written
 */
export const fieldsProperties = (
	resource?: Pick<MenuEntry, 'path' | 'isEveryday'>, method = 'getFields', linked = fieldsLinked,
): INodeProperties[] => [
	fieldsMode,
	...mapperProperties({ displayName: 'Fields', name: 'fields', description: 'The values to send' }, method, { fieldsMode: ['each'] }),
	fieldsJson,
	...choicesNotice(resource),
	...(resource?.isEveryday ? [linked] : []),
];

const knownFields = (path = ''): Record<string, string[]> =>
	(choices as Record<string, Record<string, string[]>>)[path] ?? {};

/** Describes the fields to AI builders, which see no form. */
export const fieldsJsonHint =
	'fieldsJson has fields and values as one object, or an expression that gives one. Linked records go by ID or name.';

/** Maximum number of choices in a description for builders; a form lists all. */
const maxDescribedChoices = 7;

/** The fields of some resources that are filled in first, with their choices: `ticket: subject, priority (low|high)`. */
export function describeFields(resources: Array<Pick<Resource, 'value' | 'path'>>, withChoices = true): string {
	const describe = ([name, values]: [string, string[]]): string =>
		withChoices && values.length > 0 && values.length <= maxDescribedChoices ? `${name} (${values.join('|')})` : name;
	return resources.flatMap(({ value, path }) => {
		const fields = Object.entries(knownFields(path)).map(describe);
		return fields.length > 0 ? `${value}: ${fields.join(', ')}` : [];
	}).join('; ');
}

/** The choices, which JSON does not show. */
function choicesNotice(resource: Pick<MenuEntry, 'path'> | undefined): INodeProperties[] {
	const chosen = Object.entries(knownFields(resource?.path)).filter(([, values]) => values.length > 0);
	if (chosen.length === 0) return [];
	return [
		noticeProperty(`Allowed values: ${chosen.map(([name, values]) => `${name}: ${values.join(', ')}.`).join(' ')}`, 'choicesNotice', {
			displayOptions: { show: { fieldsMode: ['json'] } },
		}),
	];
}

const fieldsMode = choiceProperty('Specify Fields', 'fieldsMode', 'each', [
	['Map Automatically', 'automatic', 'Send the input values whose names match fields'],
	['Map Each Field', 'each', 'Fill in a form with the fields of the record'],
	['Using JSON', 'json', 'Send one JSON object, such as one from an earlier node or an AI agent'],
]);

/**
 * The choice of a unique field by which records are found.
 *
 * @param description what the field is for, unless it may be left empty
 */
export function matchOnProperty(
	property: Pick<INodeProperties, 'name'> & Partial<INodeProperties>,
	description = 'A unique field.',
	method = 'getMatchFields',
): INodeProperties {
	const named = { displayName: 'Match On Name or ID', ...property, description };
	return listedChoice(named, method, ['resource', 'kind', 'objectKey.value']);
}

export const fieldsMatchOn = matchOnProperty({ name: 'fieldsMatchOn', hint: 'A record with the same value is updated' });

const fieldsJson = jsonProperty('Fields (JSON)', 'fieldsJson', {
	displayOptions: { show: { fieldsMode: ['json'] } },
	description: 'Field names and values. Custom fields go into custom_fields, and null clears a field.',
});

/** Other records, picked from searchable lists, which n8n's mapper does not offer. */
export const linkedRecordsProperty = (picker: INodeProperties): INodeProperties => rowsProperty(
	{
		displayName: 'Linked Records',
		name: 'fieldsLinked',
		placeholder: 'Add record',
		description: 'Records to link, such as the company of a contact',
	},
	{
		displayName: 'Record',
		name: 'records',
		values: [listedChoice({ displayName: 'Field Name or ID', name: 'field' }, 'getLinks', fieldsDependOn), picker],
	},
);

const fieldsLinked = linkedRecordsProperty(linkedOrNewPicker);

export const emptyCells = choiceProperty('Empty Cells', 'emptyCells', 'leave', [
	['Clear the Field', 'clear', 'Erase the value in the record'],
	['Leave the Field Unchanged', 'leave', 'Keep the value in the record'],
], { description: 'What to do with fields that are empty in the input', noDataExpression: false });

/** Empty Cells, for automatic mapping alone. */
export const emptyCellsOption: INodeProperties = {
	...emptyCells,
	displayOptions: { hide: { '/fieldsMode': ['each', 'json'] } },
};

const notation = (displayName: string, name: string, options: Array<[label: string, value: string]>) =>
	choiceProperty(displayName, name, 'api', options);

/** How values are written that come from people and other systems (mapping/chosenNotations). */
export const valuesInOption: INodeProperties = {
	displayName: 'Values In',
	name: 'valuesIn',
	type: 'fixedCollection',
	default: {},
	placeholder: 'Add Notations',
	options: [
		{
			displayName: 'Notations',
			name: 'notation',
			values: [
				notation('Countries Are', 'countries', [['Codes', 'api'], ['Names or Codes', 'names']]),
				notation('Dates Are', 'dates', [
					['2026-03-31', 'api'],
					['Day/Month/Year', 'dayMonth'],
					['Excel’s Day Numbers', 'excel'],
					['Month/Day/Year', 'monthDay'],
				]),
				textProperty('Default Country for Phones', 'phoneCountry', { placeholder: 'e.g. DE' }),
				notation('Error Texts Are', 'errorTexts', [['Refused', 'api'], ['Text', 'written']]),
				notation('Lists Are Separated By', 'lists', [
					[':::', 'colons'],
					['Comma', 'comma'],
					['Comma or JSON', 'api'],
					['Line Break', 'line'],
					['Pipe', 'pipe'],
					['Semicolon', 'semicolon'],
				]),
				notation('Numbers Are', 'numbers', [['1,234.56', 'point'], ['1.234,56', 'comma'], ['1234.56', 'api']]),
				textProperty('Value Map', 'valueMap', {
					typeOptions: { rows: 4 },
					placeholder: 'e.g. Subscriber → lead',
					hint: 'One pair a line: how a choice or a linked record is called here → in the CRM',
				}),
				notation('Yes and No Are', 'booleans', [['True and False, 1 and 0', 'api'], ['Words', 'words'], ['X for Yes', 'mark']]),
			],
		},
	],
};

/** The effect of a blank on an existing record, with values filled in and with automatic mapping. */
export const blankNotices: INodeProperties[] = [
	noticeProperty('Fields left empty here are not changed. An expression without a value, such as <code>{{ null }}</code>, clears its field.', 'blankNotice', {
		displayOptions: { show: { fieldsMode: ['each'] } },
	}),
	noticeProperty('Empty cells do not change a record, unless you add the option Empty Cells.', 'emptyCellsNotice', {
		displayOptions: { show: { fieldsMode: ['automatic'] } },
	}),
];
