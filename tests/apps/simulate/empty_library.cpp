// A shared library without an application.
