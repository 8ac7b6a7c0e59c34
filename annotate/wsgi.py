import gc
import os

from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

from annotate.celery import app
from common.database_limits import bound_pages
from common.wsgi import reading_to_the_end, refusing_what_is_no_text

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
bound_pages()
application = refusing_what_is_no_text(get_wsgi_application())
if settings.SECURE_PROXY_SSL_HEADER:
    application = reading_to_the_end(application)
# Somebody waits for a page, which only hands jobs on: a broker that hangs is given up soon, and the job is kept.
app.conf.broker_transport_options |= {"socket_timeout": 1, "socket_connect_timeout": 1}
# A WSGI server does not run system checks by itself; a wrong configuration must not serve one request.
call_command("check")
# What was loaded stays to the end: looking for garbage in it each time takes a fifth of the time of a large file.
gc.collect()
gc.freeze()
