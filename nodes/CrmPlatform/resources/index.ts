import type { Resource } from '../model';
import { account } from './account';
import { activity } from './activity';
import { apiRequest } from './apiRequest';
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

/**
 * The kinds of records the node offers, in the order of their names, as n8n's linter demands it. So the
 * names of those that few people look for begin with a later letter.
 */
export const resources: Resource[] = [
	company,
	contact,
	customField,
	customObject,
	customObjectRecord,
	deal,
	event,
	job,
	activity,
	message,
	note,
	apiRequest,
	pipeline,
	account,
	tag,
	task,
	ticket,
	user,
	webhook,
	webhookDelivery,
];

/** The resource with that value, if any. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
