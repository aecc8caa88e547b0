import type { Menu, Resource } from '../model';
import { fileOperations, recordOperations, tagOperations } from '../operations/recordOperations';
import { account } from './account';
import { activity } from './activity';
import { apiRequest } from './apiRequest';
import { changeHistory } from './change';
import { company } from './company';
import { contact } from './contact';
import { customField } from './customField';
import { customObject } from './customObject';
import { customObjectRecord } from './customObjectRecord';
import { deal } from './deal';
import { event } from './event';
import { job } from './job';
import { message } from './message';
import { note } from './note';
import { pipeline } from './pipeline';
import { tag } from './tag';
import { task } from './task';
import { ticket } from './ticket';
import { user } from './user';
import { webhook } from './webhook';
import { webhookDelivery } from './webhookDelivery';

/** The kinds of records that workflows are about, by name. */
export const everyday: Resource[] = [
	changeHistory,
	company,
	contact,
	customObjectRecord,
	deal,
	activity,
	message,
	note,
	task,
	ticket,
];

/** What sets up and watches an account, by name. */
export const administration: Resource[] = [
	apiRequest,
	customField,
	customObject,
	event,
	job,
	pipeline,
	account,
	tag,
	user,
	webhook,
	webhookDelivery,
];

export const resources: Resource[] = [...everyday, ...administration].sort((one, other) =>
	one.name < other.name ? -1 : 1,
);

/** What several kinds of records have in common: the kind is a parameter, so that a form has each of these once. */
const shared = { record: recordOperations, file: fileOperations, recordTag: tagOperations };

const allShared = Object.values(shared).flat();

/** Operations for which the user picks one of the kinds of records that have them. */
function gathered(name: string, value: keyof typeof shared, of: Resource[]): Menu {
	const kinds = of.filter((kind) => kind.operations.some((one) => shared[value].includes(one)));
	return { name, value, kinds, isLinked: kinds.some(({ isLinked }) => isLinked), operations: shared[value] };
}

/** What only one kind of record has. */
const own = (of: Resource[]): Menu[] =>
	of
		.map((resource) => ({
			...resource,
			...(resource.ownName !== undefined && { label: resource.ownName }),
			operations: resource.operations.filter((one) => !allShared.includes(one)),
		}))
		.filter(({ operations }) => operations.length > 0);

const labelOf = ({ name, label = name }: Menu): string => label;

const byName = (menu: Menu[]): Menu[] => menu.sort((one, other) => (labelOf(one) < labelOf(other) ? -1 : 1));

/** The menu of CRM Platform. */
export const everydayMenu = byName([
	gathered('Record', 'record', everyday),
	gathered('File', 'file', resources),
	gathered('Tag', 'recordTag', everyday),
	...own(everyday),
]);

/** The menu of CRM Platform Admin. */
export const adminMenu = byName([gathered('Record', 'record', administration), ...own(administration)]);

/**
 * The kind of record a node is about.
 *
 * @param read gives the value of a parameter
 */
export function chosenResource(read: (parameter: string) => unknown): Resource | undefined {
	const value = String(read('resource'));
	return resourceNamed(value in shared ? String(read('kind')) : value);
}

/** The resource with that value, if any. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
