import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

/** An operation on a record type, and its parameters in the order of the form. */
interface Form {
	resource: string;
	operation: string;
	parameters: INodeProperties[];
}

/** A variant of a parameter, and the forms that show it. */
interface Variant {
	property: INodeProperties;
	forms: Form[];
}

/**
 * Merges the parameters of all forms: each appears once, with the forms that show it. n8n 2.41 passes the list to AI
 * builders unchanged, so a parameter that is written once is read once.
 */
export function sharedParameters(forms: Form[]): INodeProperties[] {
	const all = variantsOf(forms, ({ parameters }) => parameters);
	return namesInOrder(forms).flatMap((name) => {
		const variants = all.filter(({ property }) => property.name === name);
		const [first] = variants as [Variant];
		if (first.property.type === 'collection') return combinedCollection(first, forms);
		if (first.property.type === 'notice' || variants.length === 1) return variants.map((variant) => withDisplayOptions(variant, forms));
		return forked(variants, forms);
	});
}

/** Compares by character: the names are English, and loading a locale's rules would take 7 ms when n8n loads the node. */
export const alphabetically = (a: string, b: string): number => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);

/** Orders the names of parameters so that each form has its parameters in its order: n8n shows them in the order of the list. */
function namesInOrder(forms: Form[]): string[] {
	const before = new Map<string, Set<string>>();
	for (const { parameters } of forms) {
		for (const [index, { name }] of parameters.entries()) {
			const names = before.get(name) ?? new Set();
			const previous = parameters[index - 1]?.name ?? name;
			if (previous !== name) names.add(previous);
			before.set(name, names);
		}
	}
	const ordered = new Set<string>();
	const insert = (name: string, after: string[]): void => {
		if (after.includes(name)) throw new Error(`The order of ${after.join(', ')} differs from form to form.`);
		if (ordered.has(name)) return;
		for (const predecessor of before.get(name)!) insert(predecessor, [...after, name]);
		ordered.add(name);
	};
	for (const name of before.keys()) insert(name, []);
	return [...ordered];
}

function variantsOf(forms: Form[], pick: (form: Form) => INodeProperties[]): Variant[] {
	const variants = new Map<string, Variant>();
	for (const form of forms) {
		for (const property of pick(form)) {
			// The options of all forms are combined.
			const key = property.type === 'collection' ? property.name : JSON.stringify(property);
			const variant = variants.get(key) ?? { property, forms: [] };
			variant.forms.push(form);
			variants.set(key, variant);
		}
	}
	return [...variants.values()];
}

/** Builds a collection, each option of which is shown in the forms that have it. */
function combinedCollection({ property, forms: having }: Variant, forms: Form[]): INodeProperties {
	const optionsOf = ({ parameters }: Form) => (parameters.find(({ name }) => name === property.name)?.options ?? []) as INodeProperties[];
	const options = variantsOf(having, optionsOf)
		.map((variant) => withDisplayOptions(variant, having, '/'))
		.sort((a, b) => alphabetically(a.displayName, b.displayName));
	return { ...withDisplayOptions({ property, forms: having }, forms), options };
}

/**
 * A parameter whose label or choices differ by resource or operation. The first variant applies wherever no
 * other does. n8n's generator merges such a list for builders.
 */
function forked(variants: Variant[], forms: Form[]): INodeProperties[] {
	const [first, ...others] = [...variants].sort((a, b) => choiceCount(b) - choiceCount(a)) as [Variant, ...Variant[]];
	const by = areApart(variants, 'resource') ? 'resource' : 'operation';
	const other = by === 'resource' ? 'operation' : 'resource';
	const having = variants.flatMap((variant) => variant.forms);
	const values = unique(having, other);
	const otherValues = unique(forms, other).filter((value) => !values.includes(value));
	const { show = {}, hide = {} } = shortest([{ show: { [other]: values } }, { hide: { [other]: otherValues } }]);
	const lacking = forms.filter((form) => values.includes(form[other]) && !having.includes(form));
	const hidden = unique([...lacking, ...others.flatMap((variant) => variant.forms)], by);
	const ways = [{ show, hide: { ...hide, [by]: hidden } }, ...waysFor(first.forms, forms).filter(isByResource)];
	return [
		conditioned(first.property, shortest(ways)),
		...others.map((variant) => conditioned(variant.property, { show: { ...show, [by]: unique(variant.forms, by) }, hide })),
	];
}

/** Builders see only the first variant: a condition by some operations would say that no others take the parameter. */
const isByResource = ({ show, hide }: IDisplayOptions): boolean => show?.resource !== undefined && !show.operation && !hide;

const choiceCount = ({ property: { options = [] } }: Variant): number => options.length;

const unique = (forms: Form[], by: 'resource' | 'operation'): string[] => [...new Set(forms.map((form) => form[by]))];

function areApart(variants: Variant[], by: 'resource' | 'operation'): boolean {
	const values = variants.flatMap((variant) => unique(variant.forms, by));
	return new Set(values).size === values.length;
}

/** @param from path prefix from the parameter to the node's parameters: `/` in a collection */
const withDisplayOptions = ({ property, forms }: Variant, all: Form[], from = ''): INodeProperties =>
	conditioned(property, conditionsFor(forms, all), from);

function conditioned(property: INodeProperties, conditions: IDisplayOptions, from = ''): INodeProperties {
	const show = { ...fromRoot(conditions.show, from), ...property.displayOptions?.show };
	const hide = { ...fromRoot(conditions.hide, from), ...property.displayOptions?.hide };
	const displayOptions = { ...(Object.keys(show).length > 0 && { show }), ...(Object.keys(hide).length > 0 && { hide }) };
	return Object.keys(displayOptions).length > 0 ? { ...property, displayOptions } : property;
}

const fromRoot = (conditions: IDisplayOptions['show'] = {}, from: string) =>
	Object.fromEntries(Object.entries(conditions).map(([name, values]) => [from + name, values]));

/** The shortest condition that exactly these forms meet. */
function conditionsFor(forms: Form[], all: Form[]): IDisplayOptions {
	const ways = waysFor(forms, all);
	if (ways.length > 0) return shortest(ways);
	throw new Error(`No condition is met by ${forms.map((form) => `${form.resource}.${form.operation}`).join(', ')} alone.`);
}

const shortest = (ways: IDisplayOptions[]): IDisplayOptions =>
	ways.reduce((best, way) => (JSON.stringify(way).length < JSON.stringify(best).length ? way : best));

/** The conditions that exactly these forms meet, of those that name resources and operations to show or to hide. */
function waysFor(forms: Form[], all: Form[]): IDisplayOptions[] {
	const shown = new Set(forms);
	const [resource, operation] = [unique(forms, 'resource'), unique(forms, 'operation')];
	const otherResources = unique(all, 'resource').filter((name) => !resource.includes(name));
	const others = all.filter((form) => !shown.has(form));
	const besides = unique(others.filter((form) => resource.includes(form.resource)), 'operation');
	const without = unique(others.filter((form) => operation.includes(form.operation)), 'resource');
	const ways: IDisplayOptions[] = [
		{},
		{ hide: { resource: otherResources, operation: besides } },
		{ show: { operation } },
		{ show: { resource } },
		{ show: { resource, operation } },
		{ show: { operation }, hide: { resource: without } },
	];
	return ways.filter((way) => all.every((form) => meets(form, way) === shown.has(form)));
}

const meets = ({ resource, operation }: Form, { show, hide }: IDisplayOptions): boolean =>
	show?.resource?.includes(resource) !== false && show?.operation?.includes(operation) !== false &&
	hide?.resource?.includes(resource) !== true && hide?.operation?.includes(operation) !== true;
