import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

/** A version the node never has: no form shows what only exists in it. */
const noVersion = -1;

/** What builders should read of a parameter, by its name. */
type Notes = Record<string, string>;

/**
 * The same parameters, each once. n8n 2.41 writes what AI builders read of a node from its parameters, all of them
 * anew for each resource and operation; where the first `resource` has no choices, it writes each name once, as it
 * is described first. So these go before the form's own, and are shown nowhere. An empty list of choices would end
 * n8n at its start, which adds one of its own behind the last.
 */
export function onceForBuilders(properties: INodeProperties[], notes: Notes = {}): INodeProperties[] {
	const named = grouped(
		properties.filter(({ type }) => type !== 'notice'),
		({ name }) => name,
	);
	const operations = named.get('operation') ?? [];
	return [...named.values()].map((variants): INodeProperties => {
		const [first] = variants as [INodeProperties];
		const { displayOptions: _shown, description: _description, options: _options, ...once } = first;
		return {
			...once,
			...described(variants, operations, notes[first.name]),
			displayOptions: { show: { ...shownFor(variants, operations), '@version': [noVersion] } },
		};
	});
}

function described(variants: INodeProperties[], operations: INodeProperties[], note?: string): Partial<INodeProperties> {
	const [first] = variants as [INodeProperties];
	const { name, type, options, displayName } = first;
	if (name === 'resource') return { description: `One of: ${valuesOf(first).join(', ')}` };
	if (name === 'operation') {
		return { options: distinct(variants), description: `By resource: ${operations.map(operationsOf).join('; ')}` };
	}
	const texts = [...new Set(variants.map((variant) => variant.description ?? variant.displayName))];
	return {
		description: note ?? (texts.length > 2 ? displayName : texts.join(' / ')),
		...(options && { options: type === 'options' ? distinct(variants) : options }),
		...(type === 'collection' && { options: collected(variants, operations) }),
	};
}

function grouped<Value>(values: Value[], keyOf: (value: Value) => string): Map<string, Value[]> {
	const groups = new Map<string, Value[]>();
	for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
	return groups;
}

const valuesOf = ({ options = [] }: INodeProperties): string[] =>
	options.map((option) => ('value' in option ? String(option.value) : option.name));

/** `deal: create, delete, get` */
const operationsOf = (operation: INodeProperties): string =>
	`${resourcesOf(operation).join(', ')}: ${valuesOf(operation).join(', ')}`;

const shown = ({ displayOptions }: INodeProperties, by: string): string[] =>
	(displayOptions?.show?.[by] ?? []) as string[];

const resourcesOf = (property: INodeProperties): string[] => shown(property, 'resource');

/** The choices of all variants, by value. */
const distinct = (variants: INodeProperties[]): NonNullable<INodeProperties['options']> => [
	...new Map(variants.flatMap(({ options = [] }) => options).map((option) => [(option as INodePropertyOptions).value, option])).values(),
];

/** When a parameter is shown: on which resources, for which operations, and for which other choices. */
function shownFor(variants: INodeProperties[], operations: INodeProperties[]): Record<string, string[]> {
	const { resource: _resource, operation: _operation, ...others } = variants[0]?.displayOptions?.show ?? {};
	if (variants === operations) return {};
	const byResource = onlyFor('resource', variants, operations.flatMap(resourcesOf));
	const byOperation = onlyFor('operation', variants, operations.flatMap(valuesOf));
	const { resource = [], operation: of = [] } = { ...byResource, ...byOperation };
	// Where each of the operations is one of these resources alone, the resources go without saying.
	const goesWithoutSaying = operations
		.filter((menu) => valuesOf(menu).some((value) => of.includes(value)))
		.every((menu) => resourcesOf(menu).every((value) => resource.includes(value)));
	return { ...(goesWithoutSaying && of.length > 0 ? {} : byResource), ...byOperation, ...others } as Record<string, string[]>;
}

/** The values of a choice for which a parameter is shown; nothing where it is shown for all of them. */
function onlyFor(by: string, variants: INodeProperties[], all: string[], as = by): Record<string, string[]> {
	const values = new Set(variants.flatMap((variant) => shown(variant, by)));
	return values.size > 0 && values.size < new Set(all).size ? { [as]: [...values] } : {};
}

/** The entries of a collection, each with the operations that have it. */
function collected(variants: INodeProperties[], operations: INodeProperties[]): INodeProperties[] {
	const having = grouped(
		variants.flatMap((variant) => (variant.options as INodeProperties[]).map((option) => ({ option, variant }))),
		({ option }) => option.name,
	);
	return [...having.values()].map((uses) => {
		const { option } = uses[0]!;
		const of = uses.map(({ variant }) => variant);
		const show = { ...onlyFor('operation', of, operations.flatMap(valuesOf), '/operation'), ...option.displayOptions?.show };
		return Object.keys(show).length > 0 ? { ...option, displayOptions: { show } } : option;
	});
}
