import type { INodeProperties, ResourceMapperTypeOptions } from 'n8n-workflow';

import choices from '../../../contract/choices.json';
import type { Resource } from '../model';
import { linkedProperty } from './linkedRecords';
import { fieldsDependOn } from './record';

type Mapper = Omit<
	Extract<ResourceMapperTypeOptions, { resourceMapperMethod: string }>,
	'localResourceMapperMethod'
>;

/** A resource mapper with the fields of the service's description. */
export function mapperProperty(
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	mapper: Mapper,
): INodeProperties {
	return {
		...property,
		type: 'resourceMapper',
		noDataExpression: true,
		default: { mappingMode: 'defineBelow', value: null },
		typeOptions: {
			loadOptionsDependsOn: fieldsDependOn,
			resourceMapper: { refreshIncompleteSchemaOnOpen: true, ...mapper },
		},
	};
}

/**
 * The parameters for the values to write: a mapper or one JSON object, and linked records.
 *
 * @param mode whether the user chooses a field to match on (`upsert`)
 * @param whole the resource, where all its fields can be written
 * @param special settings of this mapper alone
 */
export function fieldsProperties(
	mode: 'add' | 'upsert',
	whole?: Resource,
	special: Partial<Mapper> = {},
): INodeProperties[] {
	const mapper = mapperProperty(
		{
			displayName: 'Fields',
			name: 'fields',
			description: 'The values to write',
		},
		{
			mode,
			resourceMapperMethod: 'getFields',
			fieldWords: { singular: 'field', plural: 'fields' },
			addAllFields: true,
			multiKeyMatch: false,
			supportAutoMap: true,
			...special,
		},
	);
	return [
		fieldsMode,
		{ ...mapper, displayOptions: { show: { fieldsMode: ['each'] } } },
		...(mode === 'upsert' ? [fieldsMatchOn] : []),
		{ ...fieldsJson, description: fieldsJson.description + choicesOf(whole) },
		...(whole?.isLinked ? [fieldsLinked] : []),
	];
}

/** The choices, in words: JSON does not show them, and a model has to know them. */
function choicesOf(resource: Resource | undefined): string {
	const fields = (choices as Record<string, Record<string, string[]>>)[resource?.path ?? ''] ?? {};
	const named = Object.entries(fields).map(([name, values]) => `${name}: ${values.join(', ')}.`);
	return named.length > 0 ? ` Choices – ${named.join(' ')}` : '';
}

const fieldsMode: INodeProperties = {
	displayName: 'Specify Fields',
	name: 'fieldsMode',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Map Each Field',
			value: 'each',
			description: 'A form with the fields the service takes, or the items as they are',
		},
		{
			name: 'Using JSON',
			value: 'json',
			description: 'One object with all values, from an earlier node or an AI agent',
		},
	],
	default: 'each',
};

const fieldsMatchOn: INodeProperties = {
	displayName: 'Match On Name or ID',
	name: 'fieldsMatchOn',
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getMatchFields', loadOptionsDependsOn: ['resource'] },
	displayOptions: { show: { fieldsMode: ['json'] } },
	default: '',
	description:
		'The field that tells whether the record exists already; the first one if left empty. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

const fieldsJson: INodeProperties & { description: string } = {
	displayName: 'Fields (JSON)',
	name: 'fieldsJson',
	type: 'json',
	displayOptions: { show: { fieldsMode: ['json'] } },
	default: '{}',
	description:
		'An object of field names and values. Fields left out are not changed, and null clears a field. Custom fields go into custom_fields. Names the service does not have are not sent.',
};

const fieldsLinked = linkedProperty({
	displayName: 'Linked Records',
	name: 'fieldsLinked',
	description:
		'Records this one refers to, such as its company, picked from a list. They take precedence over values for the same field above.',
});

/** For automatic mapping: whether an empty cell is a value. */
export const emptyCellsOption: INodeProperties = {
	displayName: 'Empty Cells',
	name: 'emptyCells',
	type: 'options',
	displayOptions: { show: { '/fieldsMode': ['each'], '/fields.mappingMode': ['autoMapInputData'] } },
	options: [
		{ name: 'Clear the Field', value: 'clear', description: 'Erase the value the record has' },
		{ name: 'Leave the Field as It Is', value: 'leave', description: 'Do not send the field' },
	],
	default: 'leave',
	description: 'What an empty value of an item does when items are mapped automatically',
};

export const blankNotice: INodeProperties = {
	displayName:
		'Fields left blank are not changed. To clear a field, give it the expression <code>{{ null }}</code>.',
	name: 'blankNotice',
	type: 'notice',
	default: '',
};
