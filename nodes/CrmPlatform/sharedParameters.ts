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
		const [{ property: { type } }] = variants as [Variant];
		if (type === 'collection') return combinedCollection(variants, forms);
		if (type === 'notice' || variants.length === 1) return variants.map((variant) => withDisplayOptions(variant, forms));
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

/** Most parameters are the same object in many forms. */
const texts = new WeakMap<INodeProperties, string>();
function textOf(property: INodeProperties): string {
	const text = texts.get(property) ?? JSON.stringify(property);
	texts.set(property, text);
	return text;
}

function variantsOf(forms: Form[], pick: (form: Form) => INodeProperties[]): Variant[] {
	const variants = new Map<string, Variant>();
	for (const form of forms) {
		for (const property of pick(form)) {
			const key = textOf(property);
			const variant = variants.get(key) ?? { property, forms: [] };
			variant.forms.push(form);
			variants.set(key, variant);
		}
	}
	return [...variants.values()];
}

/** Builds a collection, each part of which is shown in the forms that have it. */
function combinedCollection(variants: Variant[], forms: Form[]): INodeProperties {
	const having = variants.flatMap((variant) => variant.forms);
	const partsOf = ({ parameters }: Form, name: string) =>
		(parameters.find((parameter) => parameter.name === name)?.options ?? []) as INodeProperties[];
	const { property } = variants[0]!;
	const options = variantsOf(having, (form) => partsOf(form, property.name))
		.map((part) => withDisplayOptions(part, having, '/'))
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
	const values = unique(variants.flatMap((variant) => variant.forms), other);
	const without = forms.filter((form) => values.includes(form[other]) && !variants.some((variant) => variant.forms.includes(form)));
	const hidden = unique([...without, ...others.flatMap((variant) => variant.forms)], by);
	const apart = unique(forms, other).filter((value) => !values.includes(value));
	const { show = {}, hide = {} } = shortest([{ show: { [other]: values } }, { hide: { [other]: apart } }]);
	return [
		conditioned(first.property, shortest([{ show, hide: { ...hide, [by]: hidden } }, ...waysFor(first.forms, forms).filter(isByResource)])),
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

const shortest = (ways: IDisplayOptions[]): IDisplayOptions => ways.sort((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)[0]!;

/** Conditions that exactly these forms meet. */
function waysFor(forms: Form[], all: Form[]): IDisplayOptions[] {
	const [resource, operation] = [unique(forms, 'resource'), unique(forms, 'operation')];
	const formSet = new Set(forms);
	const others = all.filter((form) => !formSet.has(form));
	const sameOperation = others.filter((form) => operation.includes(form.operation));
	const sameResource = others.filter((form) => resource.includes(form.resource));
	const hidden = unique(sameOperation, 'resource');
	const apart = unique(others, 'operation').filter((other) => !operation.includes(other));
	const absent = unique(all, 'resource').filter((other) => !resource.includes(other));
	const besides = unique(others.filter((form) => resource.includes(form.resource)), 'operation');
	return [
		...(others.length === 0 ? [{}] : []),
		...(absent.length > 0 && !besides.some((other) => operation.includes(other)) ? [{ hide: { resource: absent, operation: besides } }] : []),
		...(sameOperation.length === 0 ? [{ show: { operation } }, { hide: { operation: apart } }] : []),
		...(sameResource.length === 0 ? [{ show: { resource } }] : []),
		...(sameOperation.some((form) => sameResource.includes(form)) ? [] : [{ show: { resource, operation } }]),
		...(hidden.some((hiddenResource) => resource.includes(hiddenResource))
			? []
			: [{ show: { operation }, hide: { resource: hidden } }, { hide: { operation: apart, resource: hidden } }]),
	];
}
