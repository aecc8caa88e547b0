import type { INodeProperties, ResourceMapperTypeOptions } from 'n8n-workflow';

type Mapper = Omit<Extract<ResourceMapperTypeOptions, { resourceMapperMethod: string }>, 'localResourceMapperMethod'>;

/** A resource mapper over what the service's description offers. */
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
			loadOptionsDependsOn: ['resource', 'operation'],
			resourceMapper: mapper,
		},
	};
}

/**
 * The mapper of the values to write.
 *
 * @param mode whether the user chooses a field to match on (`upsert`)
 */
export function fieldsProperty(
	mode: 'add' | 'upsert',
	more: Partial<Mapper> = {},
): INodeProperties {
	return mapperProperty(
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
			...more,
		},
	);
}

export const blankNotice: INodeProperties = {
	displayName:
		'Fields left blank are not changed. To clear a field, give it the expression <code>{{ null }}</code>.',
	name: 'blankNotice',
	type: 'notice',
	default: '',
};
