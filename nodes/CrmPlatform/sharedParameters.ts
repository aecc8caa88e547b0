import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

import { maxBy } from './base/lists';
import { getOrCreate } from './base/maps';

/** An operation on a record type, and its parameters in the order of the form. */
interface Form {
	resource: string;
	operation: string;
	parameters: INodeProperties[];
}

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
		const shown = variants.map((variant) => withDisplayOptions(variant, forms));
		return first.property.type === 'notice' || variants.length === 1 ? shown : [builderProperty(variants, forms), ...shown];
	});
}

/** Compares by character: the names are English, and loading a locale's rules would take 7 ms when n8n loads the node. */
export const alphabetically = (a: string, b: string): number => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);

/** Orders the names of parameters so that each form has its parameters in its order: n8n shows them in the order of the list. */
function namesInOrder(forms: Form[]): string[] {
	const remaining = forms.map(({ parameters }) => [...new Set(parameters.map(({ name }) => name))]);
	const ordered: string[] = [];
	for (;;) {
		const heads = new Set(remaining.flatMap(([head]) => head ?? []));
		if (heads.size === 0) return ordered;
		const next = [...heads].find((name) => remaining.every((names) => names.indexOf(name) <= 0));
		if (next === undefined) throw new Error(`The order of ${[...heads].join(', ')} differs from form to form.`);
		ordered.push(next);
		for (const names of remaining) if (names[0] === next) names.shift();
	}
}

function variantsOf(forms: Form[], pick: (form: Form) => INodeProperties[]): Variant[] {
	const variants = new Map<string, Variant>();
	for (const form of forms) {
		for (const property of pick(form)) {
			// The options of all forms are combined.
			const key = property.type === 'collection' ? property.name : JSON.stringify(property);
			getOrCreate(variants, key, () => ({ property, forms: [] })).forms.push(form);
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

/** Of what only AI builders read: no node has that version. It comes first, since n8n shows whatever depends on an expression. */
export const neverShown = { '@version': [-1] };

/** For AI builders, a parameter that differs from form to form: n8n 2.41 describes only the first of each name to them. */
function builderProperty(variants: Variant[], forms: Form[]): INodeProperties {
	const { property } = maxBy(variants, ({ property: { options = [] } }) => options.length)!;
	const conditions = conditionsFor(variants.flatMap((variant) => variant.forms), forms);
	return conditioned(property, { ...conditions, show: { ...neverShown, ...conditions.show } });
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

/** The shortest condition that exactly these forms meet, of those that name resources and operations to show or to hide. */
function conditionsFor(forms: Form[], all: Form[]): IDisplayOptions {
	const isShown = new Set(forms);
	const others = all.filter((form) => !isShown.has(form));
	const [resource, operation] = [valuesOf(forms, 'resource'), valuesOf(forms, 'operation')];
	const otherResources = valuesOf(all, 'resource').filter((name) => !resource.includes(name));
	const besides = valuesOf(others.filter((form) => resource.includes(form.resource)), 'operation');
	const without = valuesOf(others.filter((form) => operation.includes(form.operation)), 'resource');
	const conditions: IDisplayOptions[] = [
		{},
		{ show: { operation } },
		{ show: { resource } },
		{ show: { operation }, hide: { resource: without } },
		{ hide: { resource: otherResources, operation: besides } },
		{ show: { resource, operation } },
	];
	const exact = conditions.filter((condition) => all.every((form) => meets(form, condition) === isShown.has(form)));
	const shortest = maxBy(exact, (condition) => -JSON.stringify(condition).length);
	if (shortest) return shortest;
	throw new Error(`No condition is met by ${forms.map((form) => `${form.resource}.${form.operation}`).join(', ')} alone.`);
}

const valuesOf = (forms: Form[], by: 'resource' | 'operation'): string[] => [...new Set(forms.map((form) => form[by]))];

const meets = ({ resource, operation }: Form, { show, hide }: IDisplayOptions): boolean =>
	show?.resource?.includes(resource) !== false && show?.operation?.includes(operation) !== false &&
	hide?.resource?.includes(resource) !== true && hide?.operation?.includes(operation) !== true;
