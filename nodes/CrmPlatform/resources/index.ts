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

/** The menu: every kind of record the node offers, in the order shown. */
export const resources: Resource[] = [
	account,
	activity,
	apiRequest,
	company,
	contact,
	customField,
	customObject,
	customObjectRecord,
	deal,
	event,
	job,
	message,
	note,
	pipeline,
	tag,
	task,
	ticket,
	user,
	webhook,
	webhookDelivery,
];

/** The kind of record a workflow names. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
